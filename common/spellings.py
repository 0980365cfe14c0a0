"""Find a text however it is escaped, in time in proportion to the length of the text searched."""

import base64
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate

MAX_LEVELS = 4
"""How many escapings inside each other are removed."""
MIN_CHARACTERS = 4
"""A shorter text without escapes would be found by chance."""
_NAMES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
# JSON (within JSON, with several backslashes), HTML, and UTF-8 in a URL. Each match stands for one character. No part goes back
# over a run of any length, so that all matches together take one pass.
_ESCAPE = re.compile(
    r"\\++(?:ud[89ab][0-9a-f]{2}\\{1,8}+ud[c-f][0-9a-f]{2}|u[0-9a-f]{4}|[^\w\s\\])?+"
    r"|&(?:#0{0,8}+[0-9]{1,7}|#x0{0,8}+[0-9a-f]{1,6}|amp|lt|gt|quot|apos);"
    r"|%(?:[0-7][0-9a-f]|[cd][0-9a-f]%[89ab][0-9a-f]|e[0-9a-f](?:%[89ab][0-9a-f]){2}|f[0-7](?:%[89ab][0-9a-f]){3})"
)
_Breaks = tuple[list[int], list[int]]


def find_spellings(text: str, sought: tuple[str, ...]) -> list[tuple[int, int]]:
    """Return where one of the texts is, in capitals or not: each character as it is, in JSON, in HTML or in a URL, which servers
    mix as they like, or all of it in base64 or hex. The places (start, end) are in order and do not overlap."""
    needles = {needle for one in sought if one for needle in _build_needles(one)}
    level, levels, places = _fold(text), list[_Breaks](), list[tuple[int, int]]()
    while needles:
        for needle in needles:
            for start, end in _find_all(level, needle):
                places.append((_locate(start, levels), _locate(end, levels)))
        if len(levels) == MAX_LEVELS:
            break
        unescaped, breaks = _unescape(level)
        if unescaped == level:
            break
        level = unescaped
        levels.append(breaks)
    return _join(places)


@lru_cache(maxsize=256)
def _build_needles(sought: str) -> frozenset[str]:
    plain = sought.encode("utf-8", "replace")
    in_base64 = (encode(plain).decode().rstrip("=") for encode in (base64.b64encode, base64.urlsafe_b64encode))
    needles = set()
    for spelling in (sought, *in_base64, plain.hex()):
        level = _fold(spelling)
        needles.add(level)
        for _ in range(MAX_LEVELS):
            level = _unescape(level)[0]
        # Backslashes at the end are read together with what follows them.
        level = level.rstrip("\\")
        if len(level) >= MIN_CHARACTERS:
            needles.add(level)
    return frozenset(needles)


def _fold(text: str) -> str:
    """Return the text in small letters, with spaces for `+`, which is a space in a form. Its length stays the same."""
    return text.replace("İ", "i").lower().replace("ς", "σ").replace("+", " ")


def _unescape(text: str) -> tuple[str, _Breaks]:
    """Return the text with one character for each escape; and the positions in it after which the original is longer by how many
    characters."""
    parts: list[str] = []
    positions, shifts = [0], [0]
    last = length = 0
    for match in _ESCAPE.finditer(text):
        start, end = match.span()
        parts += (text[last:start], _read_escape(match[0].lstrip("\\") or "\\"))
        length += start - last + 1
        last = end
        positions.append(length)
        shifts.append(end - length)
    parts.append(text[last:])
    return _fold("".join(parts)), (positions, shifts)


@lru_cache(maxsize=4096)
def _read_escape(escape: str) -> str:
    """Return the character of an escape, whose backslashes at the beginning are left out."""
    if len(escape) == 1:
        return escape
    if escape[0] == "%":
        return bytes.fromhex(escape.replace("%", "")).decode("utf-8", "replace")[0]
    if escape[0] == "u":
        units = bytes.fromhex(escape.replace("\\", "").replace("u", ""))
        return units.decode("utf-16-be", "replace")[0]
    name = escape[1:-1]
    if name in _NAMES:
        return _NAMES[name]
    code = int(name[2:], 16) if name[1] == "x" else int(name[1:])
    return chr(code) if code <= 0x10FFFF else "\ufffd"


def _find_all(text: str, needle: str) -> Iterator[tuple[int, int]]:
    start = text.find(needle)
    while start >= 0:
        end = start + len(needle)
        yield start, end
        start = text.find(needle, end)


def _locate(position: int, levels: list[_Breaks]) -> int:
    """Return where the character at a position was before all escapes were removed."""
    for positions, shifts in reversed(levels):
        position += shifts[bisect_right(positions, position) - 1]
    return position


def _join(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the places in order, with those that overlap made one."""
    places.sort()
    ends = list(accumulate((end for _, end in places), max))
    joined: list[tuple[int, int]] = []
    for (start, _), end in zip(places, ends, strict=True):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
