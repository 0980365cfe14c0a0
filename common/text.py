"""Makes text from outside fit to be stored and shown."""

import unicodedata
from math import isfinite
from typing import Any

MAX_DEPTH = 32
"""How deep JSON from outside may be nested, because recursive code reads and writes it."""


def storable(text: str) -> str:
    """Return the text without NUL, which PostgreSQL cannot store, and lone surrogates, which UTF-8 cannot encode."""
    if text.isascii():
        return text.replace("\x00", "")
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def storable_json(value: Any, depth: int = 0) -> Any:
    """Return a parsed JSON value with `storable` texts and keys. Raises `ValueError` for nesting beyond `MAX_DEPTH`, and for
    infinite numbers and NaN."""
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


_BIDI_CONTROLS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the text after them (Unicode's bidirectional controls)."""
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that are drawn blank."""
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Mn", "Me", "Zl", "Zp", "Zs"})


def one_line_name(text: str) -> str:
    """Return a name or title in one line, without bidirectional controls, so that it can stand beside other text. Return an empty
    text when nothing of it can be seen."""
    visible = (
        " " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in text if char not in _BIDI_CONTROLS
    )
    name = "".join(visible).strip()
    is_visible = any(unicodedata.category(char) not in _INVISIBLE_CATEGORIES and char not in _BLANK for char in name)
    return name if is_visible else ""
