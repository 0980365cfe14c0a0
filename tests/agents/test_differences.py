"""What differs between two specs (RUN6)."""

import sys
from collections.abc import Callable
from itertools import product
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.specs import differences, matching
from agents.specs.content import MAX_PROMPT, SpecContent
from agents.specs.differences import count_changed_lines, diff, list_changed_parts
from events.rows import DiffRow, FieldChange

TEXTS = st.lists(st.sampled_from(["", "- one", "+ two", "三", "four"]), max_size=12).map("\n".join)


def patched(before: str, unified: str) -> str:
    """What a unified diff makes of a text: an independent reading of it."""
    old, new, at = before.split("\n") if before else [], [], 0
    for line in unified.split("\n"):
        if line.startswith("@@"):
            start, _, count = line.split()[1].lstrip("-").partition(",")
            upto = int(start) - (0 if count == "0" else 1)
            new += old[at:upto]
            at = upto
        elif line.startswith("+"):
            new.append(line[1:])
        else:
            assert old[at] == line[1:]
            new += [line[1:]] if line.startswith(" ") else []
            at += 1
    return "\n".join(new + old[at:])


@given(before=TEXTS, after=TEXTS)
def test_a_unified_diff_makes_the_second_text_of_the_first(before: str, after: str) -> None:
    found = diff(SpecContent(prompt=before), SpecContent(prompt=after))
    assert (found.prompt == "") == (before == after)
    if found.prompt:
        assert patched(before, found.prompt) == after


@given(before=TEXTS, after=TEXTS)
def test_texts_too_costly_to_compare_line_by_line_are_replaced_between_their_common_ends(
    before: str, after: str
) -> None:
    if not before or not after or before == after:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "MAX_STEPS", 0)
        found = list(differences._format_hunks(before.split("\n"), after.split("\n")))
    assert patched(before, "\n".join(found)) == after


@given(before=TEXTS, after=TEXTS)
def test_as_many_lines_as_can_be_stay(before: str, after: str) -> None:
    old, new = before.split("\n"), after.split("\n")
    longest = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for a, b in product(range(len(old)), range(len(new))):
        longest[a + 1][b + 1] = longest[a][b] + 1 if old[a] == new[b] else max(longest[a][b + 1], longest[a + 1][b])
    blocks = list(matching.find_common_stretches(old, new))
    assert all(old[a : a + size] == new[b : b + size] for a, b, size in blocks)
    assert sum(size for *_, size in blocks) == longest[-1][-1]


# --- what it costs ------------------------------------------------------------------------------------------------

WORST = {
    "own lines between common ones": (
        [f"c{n}" for n in range(10_000)],
        [line for n in range(10_000) for line in (f"c{n}", f"u{n}")],
    ),
    "one line that stands everywhere between others": (
        [line for n in range(10_000) for line in ("x", f"u{n}")],
        [line for n in range(10_000) for line in ("x", f"v{n}")],
    ),
    "equal lines": (["", "x"] * 20_000, ["x", "x", ""] * 13_000),
    "the other way round": ([f"c{n}" for n in range(16_000)], [f"c{n}" for n in range(16_000)][::-1]),
    "few letters": ([chr(0x4E00 + n % 120) for n in range(49_000)], [chr(0x4E00 + n * n % 113) for n in range(49_000)]),
}
MOST_LINES_RUN = 10 * (matching.MAX_STEPS + MAX_PROMPT)


def lines_run(act: Callable[[], object]) -> int:
    """How many lines of Python the comparison runs. Stops, as a failure, at far too many."""
    run = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal run
        if not frame.f_code.co_filename.endswith(("matching.py", "differences.py", "difflib.py")):
            return None
        run += event == "line"
        assert run < 2 * MOST_LINES_RUN, "it goes on and on"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act()
    finally:
        sys.settrace(before)
    return run


@pytest.mark.parametrize("name", WORST)
def test_FAIR3_no_texts_cost_more_steps_than_the_bound(name: str) -> None:
    old, new = WORST[name]
    differences._diff_prompts.cache_clear()
    before, after = SpecContent(prompt="\n".join(old)[:MAX_PROMPT]), SpecContent(prompt="\n".join(new)[:MAX_PROMPT])
    found: list[DiffRow] = []
    assert lines_run(lambda: found.append(diff(before, after))) < MOST_LINES_RUN
    assert patched(before.prompt, found[0].prompt) == after.prompt


def test_FAIR3_lines_of_one_s_own_between_common_ones_leave_these_where_they_are() -> None:
    old, new = WORST["own lines between common ones"]
    found = diff(SpecContent(prompt="\n".join(old[:1_000])), SpecContent(prompt="\n".join(new[:2_000])))
    assert (found.prompt_added, found.prompt_removed) == (1_000, 0)


def test_FAIR3_texts_that_were_compared_are_not_compared_again(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = SpecContent(prompt="a\nb"), SpecContent(prompt="a\nc")
    first = diff(before, after)
    monkeypatch.setattr(differences, "_format_hunks", None)
    assert diff(before, after) == first


def test_lines_are_counted_and_shown_with_their_surroundings() -> None:
    found = diff(SpecContent(prompt="a\nb\nc"), SpecContent(prompt="a\nB\nc\nd"))
    assert found.prompt == "@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d"
    assert (found.prompt_added, found.prompt_removed) == (2, 1)


def test_every_other_field_is_compared_by_its_name() -> None:
    search = {"tool": "web_fetch", "is_enabled": True, "custom_config": {}, "usage_instructions": ""}
    before = SpecContent(model="a", parameters={"temperature": 0.3}, tools=(search, {"tool": "send_message"}))
    after = SpecContent(limits={"max_steps": 3}, memory="agent", tools=({**search, "is_enabled": False}, {"tool": "x"}))
    found = {change.field: change for change in diff(before, after).fields}
    assert found.keys() == {
        "model", "parameters.temperature", "limits.max_steps", "memory", "tools.web_fetch", "tools.send_message", "tools.x",
    }  # fmt: skip
    assert found["limits.max_steps"] == FieldChange(field="limits.max_steps", before=10, after=3)
    assert found["tools.web_fetch"].after["is_enabled"] is False
    assert found["tools.send_message"].after is None
    assert found["tools.x"].before is None


def test_the_order_of_tools_alone_is_no_difference() -> None:
    before = SpecContent(tools=({"tool": "a"}, {"tool": "b"}))
    after = SpecContent(tools=({"tool": "b"}, {"tool": "a"}))
    assert diff(before, after).fields == []
    assert list_changed_parts(before, after) == []


def test_touched_parts_are_named_once_each() -> None:
    after = SpecContent(prompt="p", model="m", limits={"max_steps": 3, "max_seconds": 60}, tools=({"tool": "a"},))
    assert list_changed_parts(SpecContent(), after) == ["prompt", "model", "limits", "tools"]


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("", "", 0),
        ("a\nb", "a\nb", 0),
        ("a\nb", "a\nc", 1),
        ("a\nb\nc", "a", 2),
        ("a", "a\n- b\n+ c", 2),
        ("a\nb\nc\nd", "x\nb\nc\ny\nz", 3),
    ],
)
def test_a_line_that_replaces_another_one_counts_once(before: str, after: str, lines: int) -> None:
    assert count_changed_lines(diff(SpecContent(prompt=before), SpecContent(prompt=after))) == lines
