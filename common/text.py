"""Text from outside, made fit for our house."""

import unicodedata
from math import isfinite
from typing import Any

MAX_DEPTH = 32
"""How deep JSON from outside may be nested: what is stored is written and read again by code that recurses."""


def storable(text: str) -> str:
    """The text without what PostgreSQL (NUL) or UTF-8 (half of a surrogate pair) cannot hold; models do write both."""
    if text.isascii():
        return text.replace("\x00", "")
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def storable_json(value: Any, depth: int = 0) -> Any:
    """A parsed JSON value whose texts and keys are `storable`. Raises `ValueError` for what has no way into a column:
    nesting beyond `MAX_DEPTH`, and numbers that are none."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("A number is too large.")
    if not isinstance(value, (dict, list)):
        return value
    if depth == MAX_DEPTH:
        raise ValueError("The JSON is nested too deeply.")
    if isinstance(value, list):
        return [storable_json(item, depth + 1) for item in value]
    return {storable(key): storable_json(item, depth + 1) for key, item in value.items()}


_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the text after them (Unicode's bidirectional controls)."""
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that are drawn blank."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Mn", "Me", "Zl", "Zp", "Zs"})


def one_line_name(text: str) -> str:
    """Return a name or title in one line, without bidirectional controls, so that it can stand beside other text. Return an empty
    text when nothing of it can be seen."""
    shown = (" " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in text if char not in _TURNING)
    name = "".join(shown).strip()
    is_seen = any(unicodedata.category(char) not in _UNSEEN and char not in _BLANK for char in name)
    return name if is_seen else ""
