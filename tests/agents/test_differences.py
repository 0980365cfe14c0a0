"""What differs between two specs (B6)."""

from hypothesis import given
from hypothesis import strategies as st

from agents import differences
from agents.content import SpecContent
from agents.differences import diff, touches
from events.rows import FieldChange

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
    if before and after and before != after:
        found = differences._as_one_block(before.split("\n"), after.split("\n"))
        assert patched(before, "\n".join(found)) == after


def test_the_worst_prompts_are_compared_at_once() -> None:
    lines = [chr(0x4E00 + n % 120) for n in range(49_000)]
    found = diff(SpecContent(prompt="\n".join(lines)), SpecContent(prompt="\n".join(reversed(lines))))
    assert found.prompt_added == found.prompt_removed


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
    assert touches(before, after) == []


def test_touched_parts_are_named_once_each() -> None:
    after = SpecContent(prompt="p", model="m", limits={"max_steps": 3, "max_seconds": 60}, tools=({"tool": "a"},))
    assert touches(SpecContent(), after) == ["prompt", "model", "limits", "tools"]
