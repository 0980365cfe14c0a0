"""Compare three texts line by line: the stretches that are equal in all of them, and the changes between them."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

MAX_STEPS = 200_000
"""How many steps the comparison of two texts may take; this many take a tenth of a second. Texts that need more (several
hundred common lines in another order) differ in one change, from the end of their common beginning to their common end."""


@dataclass(frozen=True)
class Part:
    """A stretch of the three texts, as line numbers in each."""

    base: range
    ours: range
    theirs: range


class Same(Part):
    """A stretch that is equal in all three texts."""


class Gap(Part):
    """A stretch that differs in at least one of the texts."""


def align_three(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Same | Gap]:
    """Yield the parts of the three texts in order. Adjacent changes, with no common line between them, are one gap."""
    at = (0, 0, 0)
    for same in _find_parts_in_all(base, ours, theirs):
        start = (same.base.start, same.ours.start, same.theirs.start)
        if start != at:
            yield Gap(*map(range, at, start))
        yield same
        at = (same.base.stop, same.ours.stop, same.theirs.stop)
    end = (len(base), len(ours), len(theirs))
    if at != end:
        yield Gap(*map(range, at, end))


def _find_parts_in_all(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Same]:
    """Yield the stretches of the base that are in both other texts."""
    in_ours, in_theirs = list(find_common_stretches(base, ours)), list(find_common_stretches(base, theirs))
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


def find_common_stretches(base: Sequence[str], other: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the stretches that two texts share, in order: the first line in each text and the number of lines.

    They form a longest common subsequence, unless finding it takes more than `MAX_STEPS`.
    """
    shortest = min(len(base), len(other))
    head = _count_equal(base, other, shortest)
    tail = _count_equal(base[::-1], other[::-1], shortest - head)
    if head:
        yield 0, 0, head
    pairs = _pair_common_lines(base[head : len(base) - tail], other[head : len(other) - tail])
    # In a stretch both numbers grow by one from pair to pair, as the index does.
    for _, group in groupby(enumerate(pairs), lambda one: (one[1][0] - one[0], one[1][1] - one[0])):
        stretch = [pair for _, pair in group]
        yield head + stretch[0][0], head + stretch[0][1], len(stretch)
    if tail:
        yield len(base) - tail, len(other) - tail, tail


def _pair_common_lines(base: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Return the numbers of the lines that both texts share, in order; none when finding them takes too many steps."""
    in_base, in_other = set(base), set(other)
    # A line that only one text has is no common line: it costs nothing.
    old = [number for number, line in enumerate(base) if line in in_other]
    new = [number for number, line in enumerate(other) if line in in_base]
    names: dict[str, int] = {}
    pairs = _find_shortest_edit(
        [names.setdefault(base[number], len(names)) for number in old],
        [names.setdefault(other[number], len(names)) for number in new],
    )
    return [(old[a], new[b]) for a, b in pairs]


def _find_shortest_edit(old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs of equal lines that the shortest edit keeps (Myers 1986); none if it takes more than `MAX_STEPS`."""
    n, m = len(old), len(new)
    furthest = {1: 0}
    rounds: list[array[int]] = []
    steps = 0
    for edits in range(n + m + 1):
        steps += edits + 1
        if steps > MAX_STEPS:
            return []
        diagonals = range(-edits, edits + 1, 2)
        for k in diagonals:
            down = k == -edits or (k != edits and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            start = x
            while x < n and x - k < m and old[x] == new[x - k]:
                x += 1
            steps += x - start
            furthest[k] = x
        rounds.append(array("i", (furthest[k] for k in diagonals)))
        if abs(n - m) <= edits and (edits - n + m) % 2 == 0 and furthest[n - m] >= n:
            return _backtrack(rounds, n, m)
    return []


def _backtrack(rounds: Sequence["array[int]"], x: int, y: int) -> list[tuple[int, int]]:
    """Return the pairs on the path to (x, y). `rounds`: how far each round of `_find_shortest_edit` came on its diagonals."""
    pairs: list[tuple[int, int]] = []
    for edits in range(len(rounds) - 1, 0, -1):
        k, before = x - y, rounds[edits - 1]
        index = (k + edits) // 2  # of the diagonal k + 1 among those of the round before
        down = k == -edits or (k != edits and before[index - 1] < before[index])
        start = before[index] if down else before[index - 1] + 1
        pairs.extend((a, a - k) for a in range(x - 1, start - 1, -1))
        x, y = (start, start - k - 1) if down else (start - 1, start - k)
    pairs.extend((a, a) for a in range(x - 1, -1, -1))
    return pairs[::-1]


def _count_equal(one: Sequence[str], other: Sequence[str], limit: int) -> int:
    """Return how many lines are equal at the beginning of both texts, up to `limit`."""
    return next((n for n in range(limit) if one[n] != other[n]), limit)
