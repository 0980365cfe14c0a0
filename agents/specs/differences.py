"""Compare two specs: the prompts as a unified diff, every other field by name."""

from collections.abc import Iterator
from difflib import Match, SequenceMatcher
from functools import lru_cache

from agents.specs.content import SpecContent
from agents.specs.fields import PROMPT, flatten_spec, get_field_name
from common.line_matching import find_common_stretches
from events.rows import DiffRow, FieldChange

CONTEXT = 3
"""The number of unchanged lines before and after each change in a unified diff."""


def diff(before: SpecContent, after: SpecContent) -> DiffRow:
    """Compare two specs. A different order of the same tools is not a difference."""
    lines = _diff_prompts(before.prompt, after.prompt) if before.prompt != after.prompt else ()
    return DiffRow(
        prompt="\n".join(lines),
        prompt_added=sum(line.startswith("+") for line in lines),
        prompt_removed=sum(line.startswith("-") for line in lines),
        fields=list(_list_field_changes(before, after)),
    )


def count_changed_lines(change: DiffRow) -> int:
    """Return how many lines of the prompt differ. A line that replaces another one counts once."""
    changed = removed = added = 0
    # The empty line at the end closes the last block of changes.
    for line in [*change.prompt.split("\n"), ""]:
        if line.startswith("-"):
            removed += 1
        elif line.startswith("+"):
            added += 1
        else:
            changed += max(removed, added)
            removed = added = 0
    return changed


def list_changed_parts(before: SpecContent, after: SpecContent) -> list[str]:
    """Return the names of the fields of `SpecContent` that differ, first the prompt."""
    parts = [PROMPT] if before.prompt != after.prompt else []
    parts += [get_field_name(change.field) for change in _list_field_changes(before, after)]
    return list(dict.fromkeys(parts))


def _list_field_changes(before: SpecContent, after: SpecContent) -> Iterator[FieldChange]:
    old, new = flatten_spec(before), flatten_spec(after)
    for field in [*old, *(field for field in new if field not in old)]:
        if old.get(field) != new.get(field):
            yield FieldChange(field=field, before=old.get(field), after=new.get(field))


@lru_cache(maxsize=32)
def _diff_prompts(before: str, after: str) -> tuple[str, ...]:
    """Return the lines of a unified diff, without its file names. Only a line feed ends a line, as in the editor."""
    old, new = before.split("\n") if before else [], after.split("\n") if after else []
    return tuple(_format_hunks(old, new))


def _format_hunks(old: list[str], new: list[str]) -> Iterator[str]:
    for group in _BoundedMatcher(old, new).get_grouped_opcodes(CONTEXT):
        (_, a, _, b, _), (_, _, a_end, _, b_end) = group[0], group[-1]
        yield f"@@ -{_format_range(a, a_end)} +{_format_range(b, b_end)} @@"
        for tag, a, a_end, b, b_end in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[a:a_end])
            else:
                yield from (f"-{line}" for line in old[a:a_end])
                yield from (f"+{line}" for line in new[b:b_end])


class _BoundedMatcher(SequenceMatcher[str]):
    """A matcher that finds common lines with `find_common_stretches`, whose running time is bounded."""

    def __init__(self, old: list[str], new: list[str]) -> None:
        super().__init__(None, old, new)
        self.blocks = [Match(*stretch) for stretch in find_common_stretches(old, new)] + [Match(len(old), len(new), 0)]

    def get_matching_blocks(self) -> list[Match]:
        return self.blocks


def _format_range(start: int, stop: int) -> str:
    """Format a range of lines as in a unified diff, where an empty range has the number of the line before it."""
    count = stop - start
    return str(start + 1) if count == 1 else f"{start + 1 if count else start},{count}"
