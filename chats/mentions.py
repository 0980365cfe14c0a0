"""Mentions: which handles a text addresses (`@scribe`). The server, the composer and the reader use one definition.

The patterns of this module are also written to `frontend/src/lib/serverConstants.ts`, so they use only what the regular
expressions of Python and of JavaScript have in common: no names of groups, no Unicode properties, lookbehinds of one length.
Both languages are tested with the cases of `tests/fixtures/mentions.json`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

SPACED = "0-9A-Za-z\u00aa\u00b5\u00ba\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u0dff\u10a0-\u10ff\u1200-\u177f\u1e00-\u1fff"
"""The characters of scripts that write spaces between words: digits, and the letters of most scripts. The letters of Chinese,
Japanese, Korean and Thai are not among them, so they may touch a mention."""
_AT = "[@\uff20]"  # Chinese and Japanese keyboards write `＠`
_BEFORE = f"{SPACED}@\uff20/"
MENTION_BEGINNING = "".join(f"(?<![{_BEFORE}]{'_' * count})" for count in range(4)) + _AT
"""An `@` that no local part of an address precedes. Underscores precede it as the beginning of an emphasis."""
MENTION_END = rf"(?![_-]*[{SPACED}])(?![./][{SPACED}])(?!{_AT}[0-9A-Za-z-]+\.[0-9A-Za-z])"
"""What was mentioned ends here, and is no part of a domain (`王@scout.com`), a package (`@scout/core`) or an account
(`@scout@example.org`)."""
MENTION = f"{MENTION_BEGINNING}([0-9A-Za-z](?:[0-9A-Za-z_-]{{0,38}}[0-9A-Za-z])?){MENTION_END}"
"""A mention in a text without code and addresses. Its group is the handle."""

_LINE_START = r"(?<![^\n])"
_LINE_END = r"[ \t\r]*(?![^\n])"
_FENCED_CODE = (
    rf"{_LINE_START}(?:[ \t]*(?:>|[-+*]|[0-9]{{1,9}}[.)]))*[ \t]*(~{{3,}}|`{{3,}}(?=[^`\n]*(?![^\n])))[^\n]*"
    rf"(?:\n(?![ \t>]*\1[`~]*{_LINE_END})[^\n]*)*(?:\n[^\n]*)?"
)
_INLINE_CODE = r"(`{1,9})(?!`)(?:[^`\n]+(?=[`\n])|\n(?![ \t\r]*\n)|(?!\2(?!`))`+(?!`))*\2(?!`)"
_LITERAL_BACKTICKS = r"\\[\\`]|`+"
_ADDRESS = r"(?:https?://|ftp://|www\.)[!-&*-;=?-~]+"
CODE_AND_ADDRESSES = f"{_FENCED_CODE}|{_INLINE_CODE}|{_LITERAL_BACKTICKS}|{_ADDRESS}"
"""The parts of a text in which no mention is searched, in the order in which they are tried. Its two groups are fences."""
INDENTED_CODE = r"(?:(?<![\s\S])|(?<=\n\n))(?: {4}|\t)[^\n]*(?:\n(?: {4}|\t)[^\n]*)*"
"""Code without fences. In a text with a list, such lines continue an item, so mentions are searched there."""
LIST_ITEM = rf"{_LINE_START} {{0,3}}(?:[-+*]|[0-9]{{1,9}}[.)])[ \t]"

_list_item = re.compile(LIST_ITEM)
_in_lists = re.compile(f"{CODE_AND_ADDRESSES}|{MENTION}")
_elsewhere = re.compile(f"{CODE_AND_ADDRESSES}|{INDENTED_CODE}|{MENTION}")


@dataclass(frozen=True)
class Mention:
    """A mention in a text. `start` and `end`: of `@` and the handle, in characters."""

    handle: str
    start: int
    end: int


def list_mentions(text: str) -> Iterator[Mention]:
    """Return the mentions of a text in their order, also of handles that nobody has."""
    if "@" not in text and "\uff20" not in text:
        return
    pattern = _in_lists if _list_item.search(text) else _elsewhere
    for match in pattern.finditer(text):
        if match[3]:
            yield Mention(match[3].lower(), match.start(), match.end())


def replace_mentions(text: str, replace: Callable[[Mention], str]) -> str:
    """Return a text with each mention replaced."""
    parts: list[str] = []
    end = 0
    for mention in list_mentions(text):
        parts += [text[end : mention.start], replace(mention)]
        end = mention.end
    return "".join([*parts, text[end:]])
