"""Compare two or three texts line by line, and find the stretches of lines that are equal in all of them."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

MAX_STEPS = 200_000
"""The number of steps that the comparison of two texts may take, which is about a tenth of a second. Texts that need more steps
(several hundred common lines in another order) are treated as one change between their common beginning and their common end."""


@dataclass(frozen=True)
class Part:
    """A stretch of the three texts, as a range of line numbers in each."""

    base: range
    ours: range
    theirs: range


class Same(Part):
    """A stretch that is equal in all three texts."""


class Gap(Part):
    """A stretch that differs in at least one of the texts."""


def align_three(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Same | Gap]:
    """Yield the parts of the three texts in order. Adjacent changes, with no common line between them, are one gap."""
    position = (0, 0, 0)
    for same in _find_parts_in_all(base, ours, theirs):
        start = (same.base.start, same.ours.start, same.theirs.start)
        if start != position:
            yield Gap(*map(range, position, start))
        yield same
        position = (same.base.stop, same.ours.stop, same.theirs.stop)
    end = (len(base), len(ours), len(theirs))
    if position != end:
        yield Gap(*map(range, position, end))


def _find_parts_in_all(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Same]:
    """Yield the stretches of the base that are in both other texts."""
    in_ours, in_theirs = list(find_common_stretches(base, ours)), list(find_common_stretches(base, theirs))
    i = j = 0
    while i < len(in_ours) and j < len(in_theirs):
        # Each: the first line in the base, the first line in the other text, and the number of lines.
        (ours_base, ours_start, ours_size), (theirs_base, theirs_start, theirs_size) = in_ours[i], in_theirs[j]
        ours_stop, theirs_stop = ours_base + ours_size, theirs_base + theirs_size
        start, stop = max(ours_base, theirs_base), min(ours_stop, theirs_stop)
        if start < stop:
            ours_start += start - ours_base
            theirs_start += start - theirs_base
            size = stop - start
            yield Same(
                base=range(start, stop),
                ours=range(ours_start, ours_start + size),
                theirs=range(theirs_start, theirs_start + size),
            )
        if ours_stop <= theirs_stop:
            i += 1
        else:
            j += 1


def find_common_stretches(base: Sequence[str], other: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the stretches that two texts have in common, in order.

    Each is the number of its first line in `base` and in `other`, and its number of lines. Together they are a longest common
    subsequence, unless finding one takes more than `MAX_STEPS`.
    """
    shortest = min(len(base), len(other))
    head = _count_equal(base, other, shortest)
    tail = _count_equal(base[::-1], other[::-1], shortest - head)
    if head:
        yield 0, 0, head
    pairs = _pair_common_lines(base[head : len(base) - tail], other[head : len(other) - tail])
    # In a stretch both line numbers rise by one from pair to pair, as the index does, so their distance from it is constant.
    for _, group in groupby(enumerate(pairs), lambda item: (item[1][0] - item[0], item[1][1] - item[0])):
        stretch = [pair for _, pair in group]
        yield head + stretch[0][0], head + stretch[0][1], len(stretch)
    if tail:
        yield len(base) - tail, len(other) - tail, tail


def _pair_common_lines(base: Sequence[str], other: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of numbers of the lines that both texts have, in order. Empty if finding them takes too many steps."""
    in_base, in_other = set(base), set(other)
    # Lines that only one text has are left out, so that they cost no steps.
    old = [number for number, line in enumerate(base) if line in in_other]
    new = [number for number, line in enumerate(other) if line in in_base]
    # Equal lines get equal numbers, which are faster to compare than texts.
    ids: dict[str, int] = {}
    pairs = _find_shortest_edit(
        [ids.setdefault(base[number], len(ids)) for number in old],
        [ids.setdefault(other[number], len(ids)) for number in new],
    )
    return [(old[a], new[b]) for a, b in pairs]


def _find_shortest_edit(old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs of equal lines that the shortest edit keeps (Myers 1986). Empty if it takes more than `MAX_STEPS`.

    The names are those of the paper: an edit is a path through the grid of `old` and `new`, `k` is a diagonal of the grid, and
    `furthest[k]` is the furthest x reached on it.
    """
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
        # The end is on the diagonal n - m. Only every second round reaches that diagonal.
        if abs(n - m) <= edits and (edits - n + m) % 2 == 0 and furthest[n - m] >= n:
            return _backtrack(rounds, n, m)
    return []


def _backtrack(rounds: Sequence["array[int]"], x: int, y: int) -> list[tuple[int, int]]:
    """Return the pairs on the path to (x, y). `rounds` has, for each round of `_find_shortest_edit`, the furthest x by diagonal.

    In round e, index i is the diagonal 2i − e.
    """
    pairs: list[tuple[int, int]] = []
    for edits in range(len(rounds) - 1, 0, -1):
        k, before = x - y, rounds[edits - 1]
        index = (k + edits) // 2  # the index of the diagonal k + 1 in the round before
        down = k == -edits or (k != edits and before[index - 1] < before[index])
        start = before[index] if down else before[index - 1] + 1
        pairs.extend((a, a - k) for a in range(x - 1, start - 1, -1))
        x, y = (start, start - k - 1) if down else (start - 1, start - k)
    pairs.extend((a, a) for a in range(x - 1, -1, -1))
    return pairs[::-1]


def _count_equal(one: Sequence[str], other: Sequence[str], limit: int) -> int:
    """Return how many lines are equal at the beginning of both texts, up to `limit`."""
    return next((n for n in range(limit) if one[n] != other[n]), limit)
