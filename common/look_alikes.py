"""Names that look alike: Unicode's skeletons (UTS #39), in which characters that look alike are the same.

The table `look_alikes.txt` is Unicode's, without the characters that NFKD replaces anyway. Nothing is stored by it, so a newer
table applies to all names at once.
"""

import unicodedata
from functools import cache, lru_cache
from pathlib import Path

from common.text import normalize_for_comparison

TABLE = Path(__file__).with_suffix(".txt")
_MEANINGFUL_AT_END = frozenset("#&@")
"""Punctuation that tells two names apart also at their end, as in `C#`."""


@lru_cache(maxsize=20_000)
def build_look_alike_forms(name: str) -> frozenset[str]:
    """Return forms of a name. Two names look alike if they have a form in common: apart from case, width, characters that are not
    displayed, other letters that look the same, and punctuation at the end.

    There are two forms, because case and likeness cannot be compared at once: `I` is the capital of `i`, and looks like `l`.
    """
    return frozenset({normalize_for_comparison(name), _build_skeleton(name)})


def _build_skeleton(name: str) -> str:
    # Before the table, which replaces some punctuation by letters, and after it, because it also replaces letters by punctuation.
    name = _remove_final_punctuation(name)
    return _remove_final_punctuation(_replace(normalize_for_comparison(_replace(name))))


def _remove_final_punctuation(name: str) -> str:
    """Return the name without punctuation and spaces at its end; the whole name if it has nothing else."""
    end = len(name)
    while end and name[end - 1] not in _MEANINGFUL_AT_END and unicodedata.category(name[end - 1])[0] in "PZ":
        end -= 1
    return name[:end] or name


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
