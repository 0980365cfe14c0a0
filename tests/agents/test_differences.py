"""The difference of two specs (RUN6)."""

import sys
from collections.abc import Callable
from itertools import product
from types import FrameType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents.specs import differences
from agents.specs.content import MAX_PROMPT, SpecContent
from agents.specs.differences import count_changed_lines, diff, list_changed_parts
from common import line_matching
from events.rows import DiffRow, FieldChange

TEXTS = st.lists(st.sampled_from(["", "- one", "+ two", "三", "four"]), max_size=12).map("\n".join)


def apply_diff(before: str, unified: str) -> str:
    """Apply a unified diff to a text. An independent implementation of the format."""
    old, new, position = before.split("\n") if before else [], [], 0
    for line in unified.split("\n"):
        if line.startswith("@@"):
            start, _, count = line.split()[1].lstrip("-").partition(",")
            end = int(start) - (0 if count == "0" else 1)
            new += old[position:end]
            position = end
        elif line.startswith("+"):
            new.append(line[1:])
        else:
            assert old[position] == line[1:]
            new += [line[1:]] if line.startswith(" ") else []
            position += 1
    return "\n".join(new + old[position:])


@example(before="a\n", after="a")
@example(before="", after="\n")
@given(before=TEXTS, after=TEXTS)
def test_a_unified_diff_transforms_the_first_text_into_the_second(before: str, after: str) -> None:
    result = diff(SpecContent(prompt=before), SpecContent(prompt=after))
    assert (result.prompt == "") == (before == after)
    if result.prompt:
        assert apply_diff(before, result.prompt) == after


@given(before=TEXTS, after=TEXTS)
def test_texts_that_need_too_many_steps_are_replaced_between_their_common_ends(before: str, after: str) -> None:
    if not before or not after or before == after:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(line_matching, "MAX_STEPS", 0)
        result = list(differences._format_hunks(before.split("\n"), after.split("\n")))
    assert apply_diff(before, "\n".join(result)) == after


@given(before=TEXTS, after=TEXTS)
def test_common_stretches_are_a_longest_common_subsequence(before: str, after: str) -> None:
    old, new = before.split("\n"), after.split("\n")
    longest = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for a, b in product(range(len(old)), range(len(new))):
        longest[a + 1][b + 1] = longest[a][b] + 1 if old[a] == new[b] else max(longest[a][b + 1], longest[a + 1][b])
    blocks = list(line_matching.find_common_stretches(old, new))
    assert all(old[a : a + size] == new[b : b + size] for a, b, size in blocks)
    assert sum(size for *_, size in blocks) == longest[-1][-1]


# --- costs ------------------------------------------------------------------------------------------------

EXPENSIVE_TEXTS = {
    "own lines between common ones": (
        [f"c{n}" for n in range(10_000)],
        [line for n in range(10_000) for line in (f"c{n}", f"u{n}")],
    ),
    "one line between all others": (
        [line for n in range(10_000) for line in ("x", f"u{n}")],
        [line for n in range(10_000) for line in ("x", f"v{n}")],
    ),
    "equal lines": (["", "x"] * 20_000, ["x", "x", ""] * 13_000),
    "the other way round": ([f"c{n}" for n in range(16_000)], [f"c{n}" for n in range(16_000)][::-1]),
    "few letters": ([chr(0x4E00 + n % 120) for n in range(49_000)], [chr(0x4E00 + n * n % 113) for n in range(49_000)]),
}
MAX_EXECUTED_LINES = 10 * (line_matching.MAX_STEPS + MAX_PROMPT)


def count_executed_lines(call: Callable[[], object]) -> int:
    """Return how many lines of Python code the call executes. Fails at far too many."""
    executed = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal executed
        if not frame.f_code.co_filename.endswith(("matching.py", "differences.py", "difflib.py")):
            return None
        executed += event == "line"
        assert executed < 2 * MAX_EXECUTED_LINES, "the comparison does not end"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    finally:
        sys.settrace(before)
    return executed


@pytest.mark.parametrize("name", EXPENSIVE_TEXTS)
def test_FAIR3_the_cost_of_a_comparison_is_bounded(name: str) -> None:
    old, new = EXPENSIVE_TEXTS[name]
    differences._diff_prompts.cache_clear()
    before, after = SpecContent(prompt="\n".join(old)[:MAX_PROMPT]), SpecContent(prompt="\n".join(new)[:MAX_PROMPT])
    result: list[DiffRow] = []
    assert count_executed_lines(lambda: result.append(diff(before, after))) < MAX_EXECUTED_LINES
    assert apply_diff(before.prompt, result[0].prompt) == after.prompt


def test_FAIR3_added_lines_between_common_ones_are_only_added() -> None:
    old, new = EXPENSIVE_TEXTS["own lines between common ones"]
    result = diff(SpecContent(prompt="\n".join(old[:1_000])), SpecContent(prompt="\n".join(new[:2_000])))
    assert (result.prompt_added, result.prompt_removed) == (1_000, 0)


def test_FAIR3_the_diff_of_the_same_texts_is_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    before, after = SpecContent(prompt="a\nb"), SpecContent(prompt="a\nc")
    first = diff(before, after)
    monkeypatch.setattr(differences, "_format_hunks", None)
    assert diff(before, after) == first


def test_changed_lines_are_counted_and_shown_with_context() -> None:
    result = diff(SpecContent(prompt="a\nb\nc"), SpecContent(prompt="a\nB\nc\nd"))
    assert result.prompt == "@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d"
    assert (result.prompt_added, result.prompt_removed) == (2, 1)


def test_other_fields_are_compared_by_name() -> None:
    search = {"tool": "web_fetch", "is_enabled": True, "custom_config": {}, "usage_instructions": ""}
    before = SpecContent(model="a", parameters={"temperature": 0.3}, tools=(search, {"tool": "send_message"}))
    more = {"memory": "agent", "context": {"strategy": "retrieve"}, "team": {"members": ["weather"]}}
    after = SpecContent(limits={"max_steps": 3}, **more, tools=({**search, "is_enabled": False}, {"tool": "x"}))
    result = {change.field: change for change in diff(before, after).fields}
    assert result.keys() == {
        "model",
        "parameters.temperature",
        "limits.max_steps",
        "memory",
        "context.strategy",
        "team.members.weather",
        "tools.web_fetch",
        "tools.send_message",
        "tools.x",
    }
    assert result["limits.max_steps"] == FieldChange(field="limits.max_steps", before=10, after=3)
    assert result["tools.web_fetch"].after["is_enabled"] is False
    assert result["tools.send_message"].after is None
    assert result["tools.x"].before is None


def test_a_different_order_of_tools_or_members_is_not_a_difference() -> None:
    before = SpecContent(tools=({"tool": "a"}, {"tool": "b"}), team={"members": ["a", "b"]})
    after = SpecContent(tools=({"tool": "b"}, {"tool": "a"}), team={"members": ["b", "a"]})
    assert diff(before, after).fields == []
    assert list_changed_parts(before, after) == []


def test_changed_parts_are_listed_once() -> None:
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
