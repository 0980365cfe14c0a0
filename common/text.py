"""Clean text from outside, so that it can be stored and shown."""

import re
import unicodedata
from math import isfinite
from typing import Any

from pydantic_core import from_json

MAX_DEPTH = 32
"""The depth to which JSON from outside may be nested, because recursive code reads and writes it."""


def to_storable(text: str) -> str:
    """Return the text without NUL, which PostgreSQL cannot store, and with `?` for lone surrogates, which UTF-8 cannot encode."""
    if text.isascii():
        return text.replace("\x00", "")
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def to_storable_json(value: Any, depth: int = 0) -> Any:
    """Apply `to_storable` to all texts and keys of a parsed JSON value. Raises `ValueError` for nesting beyond `MAX_DEPTH`,
    infinite numbers and NaN."""
    if isinstance(value, str):
        return to_storable(value)
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("A number is too large.")
    if not isinstance(value, (dict, list)):
        return value
    if depth == MAX_DEPTH:
        raise ValueError("The JSON is nested too deeply.")
    if isinstance(value, list):
        return [to_storable_json(item, depth + 1) for item in value]
    return {to_storable(key): to_storable_json(item, depth + 1) for key, item in value.items()}


_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff々〇"
_LATIN = "A-Za-z\u00c0-\u024f0-9@"
_CJK_BOUNDARY = re.compile(f"(?<=[{_HAN}])(?=[{_LATIN}])|(?<=[{_LATIN}])(?=[{_HAN}])")


def add_cjk_spacing(text: str) -> str:
    """Add a space between Chinese characters and Latin letters or digits, as the web app does in its texts."""
    return _CJK_BOUNDARY.sub(" ", text)


MAX_WRAPPERS = 3
"""How many JSON strings inside each other `unwrap_json_object` reads."""


def unwrap_json_object(text: str) -> str:
    """Return the JSON object that a text can only mean: `{}` for an empty text or `null`, and the object of a JSON string that
    contains one. Return any other text as it is."""
    inner = text.strip()
    for _ in range(MAX_WRAPPERS):
        if inner in ("", "null"):
            return "{}"
        if not inner.startswith('"'):
            break
        try:
            read = from_json(inner)
        except ValueError:
            return text
        inner = read.strip() if isinstance(read, str) else ""
    if not inner.startswith("{") or inner == text.strip():
        return text
    try:
        from_json(inner)
    except ValueError:
        return text
    return inner


_BIDI_CONTROLS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the text after them (Unicode's bidirectional controls)."""
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that are displayed as blanks."""
_INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Mn", "Me", "Zl", "Zp", "Zs"})
"""Categories of characters that are not visible by themselves: a name needs a character of another category."""
_REMOVED_CATEGORIES = frozenset({"Cc", "Cf", "Cn", "Co", "Cs"})
"""Categories of the characters that `remove_invisible` removes."""


def remove_invisible(text: str) -> str:
    """Return the text without control, format, private and unassigned characters, so that a reader sees all that a model reads.

    Line breaks and tabs are kept. Emoji that are joined by a format character fall apart.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n")
    return "".join(char for char in text if char in "\n\t" or unicodedata.category(char) not in _REMOVED_CATEGORIES)


_DEFAULT_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\ufe00-\ufe0f\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""Characters besides those of the category Cf that are not displayed (Unicode's `Default_Ignorable_Code_Point`)."""


def remove_undisplayed_characters(text: str) -> str:
    """Return the text without format characters, private characters and noncharacters: they are not displayed, or differently by
    each font.

    Other unassigned characters are kept: the newest emoji are unassigned in the tables of Python.
    """
    return text if text.isascii() else "".join(char for char in text if not _is_undisplayed(char))


def _is_undisplayed(char: str) -> bool:
    is_noncharacter = ord(char) & 0xFFFE == 0xFFFE or "\ufdd0" <= char <= "\ufdef"
    return is_noncharacter or unicodedata.category(char) in ("Cf", "Co")


def normalize_for_comparison(text: str) -> str:
    """Return the form in which texts are compared and searched: without regard to case, to full and half width, to the number of
    spaces, and to characters that are not displayed.

    Letters of different alphabets that look alike, such as Latin and Cyrillic `a`, stay different.
    """
    text = unicodedata.normalize("NFKC", to_storable(text)).casefold()
    text = remove_undisplayed_characters(unicodedata.normalize("NFKC", text))
    return " ".join(_DEFAULT_IGNORABLE.sub("", text).replace("\u2800", " ").split())


def normalize_name(text: str) -> str:
    """Return a name or title as one line without bidirectional controls, so that it can be shown beside other text. Return the
    empty string if no character of it is visible."""
    visible = (
        " " if unicodedata.category(char) in ("Cc", "Zl", "Zp") else char for char in text if char not in _BIDI_CONTROLS
    )
    name = "".join(visible).strip()
    is_visible = any(unicodedata.category(char) not in _INVISIBLE_CATEGORIES and char not in _BLANK for char in name)
    return name if is_visible else ""
