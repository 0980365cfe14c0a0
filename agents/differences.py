"""What differs between two specs: the prompt as a unified diff, every other field by name (mission row B6)."""

from collections import Counter
from collections.abc import Iterator
from difflib import unified_diff
from itertools import takewhile
from typing import Any

from agents.content import SpecContent
from events.rows import DiffRow, FieldChange

CONTEXT = 3
MAX_PAIRS = 500_000
"""Equal lines, each with each, up to which two prompts are compared line by line: beyond it that takes seconds."""


def diff(before: SpecContent, after: SpecContent) -> DiffRow:
    """How to come from one spec to the other. The order of the tools alone is no difference."""
    lines = list(_prompt_diff(before.prompt, after.prompt))
    return DiffRow(
        prompt="\n".join(lines),
        prompt_added=sum(line.startswith("+") for line in lines),
        prompt_removed=sum(line.startswith("-") for line in lines),
        fields=list(_changes(before, after)),
    )


def touches(before: SpecContent, after: SpecContent) -> list[str]:
    """Which parts differ, of `prompt`, `model`, `parameters`, `limits`, `memory` and `tools`, in this order."""
    fields = [change.field.partition(".")[0] for change in _changes(before, after)]
    return list(dict.fromkeys(["prompt"] * (before.prompt != after.prompt) + fields))


def _changes(before: SpecContent, after: SpecContent) -> Iterator[FieldChange]:
    old, new = _fields(before), _fields(after)
    for field in [*old, *(field for field in new if field not in old)]:
        if old.get(field) != new.get(field):
            yield FieldChange(field=field, before=old.get(field), after=new.get(field))


def _fields(content: SpecContent) -> dict[str, Any]:
    """Every field but the prompt by its path, in the order in which they are shown."""
    return {
        "model": content.model,
        **{f"parameters.{name}": value for name, value in content.parameters.model_dump().items()},
        **{f"limits.{name}": value for name, value in content.limits.model_dump().items()},
        "memory": content.memory,
        **{f"tools.{use.tool}": use.model_dump(mode="json") for use in content.tools},
    }


def _prompt_diff(before: str, after: str) -> Iterator[str]:
    """The lines of a unified diff, without the lines that name files. Only `\\n` ends a line, as in the editor."""
    if before == after:
        return iter(())
    old, new = before.split("\n") if before else [], after.split("\n") if after else []
    if _pairs(old, new) > MAX_PAIRS:
        return _as_one_block(old, new)
    lines = unified_diff(old, new, lineterm="", n=CONTEXT)
    next(lines)
    next(lines)
    return lines


def _pairs(old: list[str], new: list[str]) -> int:
    counts = Counter(new)
    return sum(times * counts[line] for line, times in Counter(old).items())


def _as_one_block(old: list[str], new: list[str]) -> Iterator[str]:
    """Everything between the first and the last line that differ is replaced: true, only less fine."""
    head = sum(1 for _ in takewhile(_equal, zip(old, new, strict=False)))
    most = min(len(old), len(new)) - head
    tail = min(most, sum(1 for _ in takewhile(_equal, zip(reversed(old), reversed(new), strict=False))))
    start, shown = max(0, head - CONTEXT), min(tail, CONTEXT)
    gone, come = old[head : len(old) - tail], new[head : len(new) - tail]
    around = head - start + shown
    yield f"@@ -{start + 1},{around + len(gone)} +{start + 1},{around + len(come)} @@"
    yield from (f" {line}" for line in old[start:head])
    yield from (f"-{line}" for line in gone)
    yield from (f"+{line}" for line in come)
    yield from (f" {line}" for line in old[len(old) - tail :][:shown])


def _equal(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]
