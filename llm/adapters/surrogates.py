"""Read JSON with halves of surrogate pairs: servers that cut a text between its UTF-16 units send an emoji in two parts."""

import json
from typing import Any

REPLACEMENT = "\ufffd"
_STREAMED = frozenset({"content", "text", "thinking", "reasoning", "reasoning_content", "refusal", "arguments"})
"""The fields whose texts arrive in parts: a half at their end may be completed by the next part."""


def parse_loosely(payload: bytes) -> Any:
    """Parse JSON whose texts may have halves of surrogate pairs, or bytes that are not UTF-8. Raises `ValueError`.

    Only the texts that arrive in parts keep their halves; in others they become U+FFFD.
    """
    try:
        return _clean(json.loads(payload.decode("utf-8", "replace")))
    except RecursionError as error:
        raise ValueError("The JSON is nested too deeply.") from error


def replace_halves(text: str) -> str:
    """Return the text with each surrogate pair as its character, and U+FFFD for each half without the other."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _clean(value: Any, name: str = "") -> Any:
    if isinstance(value, str):
        return value if name in _STREAMED else replace_halves(value)
    if isinstance(value, list):
        return [_clean(item, name) for item in value]
    if isinstance(value, dict):
        return {replace_halves(key): _clean(item, key) for key, item in value.items()}
    return value


class HalfJoiner:
    """Joins the halves of surrogate pairs over the parts of several texts, each with a name. Until `is_active`, texts pass as they
    are."""

    def __init__(self) -> None:
        self.is_active = False
        self._kept: dict[str, str] = {}

    def join(self, name: str, part: str) -> str:
        """Return the part with whole characters. The first half of a pair at its end is kept for the next part of this text."""
        if not self.is_active:
            return part
        part = self._kept.pop(name, "") + part
        if part and "\ud800" <= part[-1] <= "\udbff":
            self._kept[name], part = part[-1], part[:-1]
        return replace_halves(part)

    def finish(self, name: str) -> str:
        """Return U+FFFD if a half of this text has stayed alone, else an empty text."""
        return REPLACEMENT if self._kept.pop(name, "") else ""
