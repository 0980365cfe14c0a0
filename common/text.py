"""Text from outside, made fit for our house."""

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
