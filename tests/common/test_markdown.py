"""The plain text of Markdown."""

import time

import pytest

from common.markdown import strip_markdown


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("## The **price** of _green_ tea", "The price of green tea"),
        ("Title\n=====\n> quoted\n> - [x] *done*\n1. one", "Title\n\nquoted\ndone\n1. one"),
        ("用**粗體**字，~~舊~~新，***都***", "用粗體字，舊新，都"),
        (
            'See [the page](https://x.example/a_(b) "T"), ![a cat](cat.png) and <https://y.example>',
            "See the page, a cat and https://y.example",
        ),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "  a   b  \n\n  1   2  "),
        ("```py\nx = '# y'\n```\nand `__init__` and ``a*b*c``", "\nx = '# y'\n\nand __init__ and a*b*c"),
        (r"\*as it is\* and C:\dir", r"*as it is* and C:\dir"),
        # Parts of which the beginning or the end was cut away.
        ("half a **sign", "half a sign"),
        ("label](https://x.example) and [another](https://y.exa", "label and another"),
        # What is shown as it is written.
        ("2 * 3 * 4, 2 ** 3, snake_case_name, build_2, 50%_off, a | b, x-y, #1, 1.", None),
        ('<b>bold</b> <script>alert("x")</script> & \' " 👍🏽 \u202e', None),
        ("** -- __ ~~ [ ] ( ) ` \\", None),
    ],
)
def test_the_signs_of_markdown_are_left_out(text, plain):
    assert strip_markdown(text) == (text if plain is None else plain)


@pytest.mark.parametrize(
    "part", ["*", "_", "[", "](", "[a](", "`", "> ", "| ", "~~a ", "_a ", "**a", "- ", " ", "\\", "<http://"]
)
def test_a_long_text_of_signs_takes_little_time(part):
    started = time.process_time()
    strip_markdown(part * (2_000 // len(part)) + "x")
    assert time.process_time() - started < 1
