"""Text from outside is made fit to be stored."""

import pytest

from common.text import MAX_DEPTH, make_json_storable, make_storable, normalize_name


@pytest.mark.parametrize(
    ("text", "kept"), [("plain", "plain"), ("你好", "你好"), ("a\x00b", "ab"), ("a\ud800b", "a?b"), ("😀\x00", "😀")]
)
def test_what_cannot_be_stored_is_left_out(text, kept):
    assert make_storable(text) == kept


def test_json_is_made_storable_to_its_last_key_and_text():
    assert make_json_storable({"a\x00": ["\ud800", {"b": "c\x00"}], "n": 1.5}) == {"a": ["?", {"b": "c"}], "n": 1.5}


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_json_with_numbers_that_are_none_is_refused(value):
    with pytest.raises(ValueError, match="too large"):
        make_json_storable({"n": [value]})


def test_json_is_nested_so_deep_and_no_deeper():
    value: object = 1
    for _ in range(MAX_DEPTH):
        value = [value]
    assert make_json_storable(value) == value
    with pytest.raises(ValueError, match="nested"):
        make_json_storable([value])


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Alice", "Alice"), (" 小明 ", "小明"), ("محمد", "محمد"), ("O\u2019Neill", "O\u2019Neill"),
        ("👩\u200d👧 🏴\U000e0067\U000e007f", "👩\u200d👧 🏴\U000e0067\U000e007f"),
        ("a\r\nb\u2028c\x1b[1m", "a  b c [1m"), ("\u202eecilA\u202c", "ecilA"), ("a\u2066b\u200fc", "abc"),
        ("\u200b", ""), ("\u3164\u2800 ", ""), ("\u202e", ""), ("\u0301\ufe0f", ""), ("", ""),
    ],
)  # fmt: skip
def test_a_name_is_one_line_that_can_be_seen_and_turns_nothing_else(said, kept):
    assert normalize_name(said) == kept
