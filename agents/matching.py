"""Three texts, line by line: where all three say the same, and where one or two of them changed something."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_PAIRS = 2_000_000
"""Lines times lines up to which two texts are compared line by line, which takes less than a second. Above it (two texts of
1,400 lines each) what lies between their common beginning and end counts as one change."""


@dataclass(frozen=True)
class Part:
    """A stretch of the three texts, as line numbers in each."""

    base: range
    ours: range
    theirs: range


class Same(Part):
    """All three say the same."""


class Gap(Part):
    """Somebody changed something; what lies beside it is the same in all three."""


def three_ways(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Same | Gap]:
    """The three texts from beginning to end. Changes that touch, with no common line between them, are one gap."""
    at = (0, 0, 0)
    for same in _common(base, ours, theirs):
        start = (same.base.start, same.ours.start, same.theirs.start)
        if start != at:
            yield Gap(*map(range, at, start))
        yield same
        at = (same.base.stop, same.ours.stop, same.theirs.stop)
    end = (len(base), len(ours), len(theirs))
    if at != end:
        yield Gap(*map(range, at, end))


def _common(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Same]:
    """Where a stretch of the base is in both others."""
    in_ours, in_theirs = list(matches(base, ours)), list(matches(base, theirs))
    i = j = 0
    while i < len(in_ours) and j < len(in_theirs):
        (a, o, n), (b, t, m) = in_ours[i], in_theirs[j]
        start, stop = max(a, b), min(a + n, b + m)
        if start < stop:
            size = stop - start
            yield Same(
                range(start, stop),
                range(o + start - a, o + start - a + size),
                range(t + start - b, t + start - b + size),
            )
        if a + n <= b + m:
            i += 1
        else:
            j += 1


def matches(base: Sequence[str], other: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Stretches that two texts share, in order: where they begin in each, and how many lines they are."""
    shortest = min(len(base), len(other))
    head = _agreeing(base, other, shortest)
    tail = _agreeing(base[::-1], other[::-1], shortest - head)
    if head:
        yield 0, 0, head
    middle, changed = base[head : len(base) - tail], other[head : len(other) - tail]
    if len(middle) * len(changed) <= MOST_PAIRS:
        for a, b, size in SequenceMatcher(None, middle, changed, autojunk=False).get_matching_blocks()[:-1]:
            yield head + a, head + b, size
    if tail:
        yield len(base) - tail, len(other) - tail, tail


def _agreeing(one: Sequence[str], other: Sequence[str], most: int) -> int:
    return next((n for n in range(most) if one[n] != other[n]), most)
