"""Names that look alike: Unicode's skeletons (UTS #39), in which characters that look alike are the same.

The table `look_alikes.txt` is Unicode's, without the characters that NFKD replaces anyway. No stored value depends on it, so a
newer table applies to all names at once.
"""

import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path

from common.text import normalize_for_comparison

TABLE = Path(__file__).with_suffix(".txt")
_MEANINGFUL_AT_END = frozenset("#&@")
"""Punctuation that tells two names apart also at their end, as in `C#`."""


@lru_cache(maxsize=20_000)
def build_look_alike_forms(name: str) -> frozenset[str]:
    """Return forms of a name. Two names look alike if they have a form in common: apart from case, width, characters that are not
    displayed, other letters that look the same, and punctuation and loose accents at both ends.

    There are two forms, because case and likeness cannot be compared at once: `I` is the capital of `i`, and looks like `l`.
    """
    return frozenset({normalize_for_comparison(name), _build_skeleton(name)})


def _build_skeleton(name: str) -> str:
    # Before the table, which replaces some punctuation by letters, and after it, because it also replaces letters by punctuation.
    # Composed before, so that a mark of a letter that is written with it (`é`, `が`) is not removed.
    name = _strip(unicodedata.normalize("NFC", name), lambda one: _is_punctuation(one) or _is_mark(one))
    return _strip(_replace(normalize_for_comparison(_replace(name))), _is_punctuation)


def _strip(name: str, is_removed: Callable[[str], bool]) -> str:
    """Return the name without such characters at both ends; the whole name if it has no others."""
    start, end = 0, len(name)
    while end and name[end - 1] not in _MEANINGFUL_AT_END and is_removed(name[end - 1]):
        end -= 1
    while start < end and is_removed(name[start]):
        start += 1
    return name[start:end] or name


def _is_punctuation(character: str) -> bool:
    """Return whether it is punctuation, a space, or an accent that stands alone."""
    category = unicodedata.category(character)
    return category[0] in "PZ" or category == "Sk" or character == "~"


def _is_mark(character: str) -> bool:
    """Return whether it is a mark that can be put on any letter. The vowels of Thai or Hindi are marks of another kind."""
    return unicodedata.category(character) == "Mn" and unicodedata.name(character, "").startswith("COMBINING ")


def _replace(text: str) -> str:
    return unicodedata.normalize("NFD", unicodedata.normalize("NFKD", text).translate(_read_table()))


@cache
def _read_table() -> dict[int, str]:
    """Return the texts by the code points of the characters that look like them."""
    table: dict[int, str] = {}
    for line in TABLE.read_text().splitlines():
        if not line.startswith("#"):
            target, sources = line.split(": ")
            text = "".join(chr(int(code, 16)) for code in target.split())
            table |= {int(code, 16): text for code in sources.split()}
    return table
