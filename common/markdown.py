"""The plain text of Markdown, for excerpts of one line."""

import re

_FENCES = re.compile(r"^[ \t]*(?:```|~~~)[^`\n]*$", re.MULTILINE)
"""The first and the last line of a block of code."""
_RULES = re.compile(r"^[ \t]*(?:=+|\|?(?=[ \t:|]*-{2})[-:| \t]+)$", re.MULTILINE)
"""Rules, the lines below the head of a table, and those that make the line above them a heading."""
_ROWS = re.compile(r"^[ \t]*\|.*\|[ \t]*$", re.MULTILINE)
_LINE_STARTS = re.compile(r"^[ \t]*(?:(?:>[ \t]?|#{1,6}[ \t]+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)[ \t]*)+", re.MULTILINE)
"""Headings, quotations, items of lists and tasks."""
_CODE = re.compile(r"`+([^`]+)`+")
_TARGET = r"\]\((?:[^()\s]|\([^()\s]*\))*(?:[ ]\"[^\"\n]*\")?"
_LINKS = re.compile(rf"!?\[([^\[\]]*){_TARGET}(?:\)|$)|^([^\[\]]*){_TARGET}\)")
"""Links and pictures, also one that begins before the text or ends behind it."""
_STARS = re.compile(r"(?<!\\)(\*{1,3}|~~)(?=[^\s*~])([^*~]*[^\s*~])\1")
_UNDERSCORES = re.compile(r"(?<!\w)(_{1,3})(?=[^\s_])(.*?[^\s_])\1(?!\w)")
_HALVES = re.compile(r"(?<=\S)(?:\*\*|~~)(?!\S)|(?<!\S)(?:\*\*|~~)(?=\S)")
"""One sign of a pair whose other one is not in the text."""
_AUTOLINKS = re.compile(r"<(https?://[^<>\s]+)>")
_ESCAPES = re.compile(r"\\([!-/:-@\[-`{-~])")


def strip_markdown(text: str) -> str:
    """Return a text, or a part of one, without the signs of Markdown: what is read on the screen. Targets of links are left out.

    Elements of HTML stay, because they are shown as they are written.
    """
    text = _RULES.sub("", _FENCES.sub("", text))
    text = _ROWS.sub(lambda row: row.group().replace("|", " "), text)
    parts = _CODE.split(_LINE_STARTS.sub("", text))
    # The parts at odd indexes are code, which is shown as it is written.
    return "".join(part if index % 2 else _strip_inline(part) for index, part in enumerate(parts))


def _strip_inline(text: str) -> str:
    text = _LINKS.sub(lambda link: link.group(1) or link.group(2) or "", text)
    for pattern in (_STARS, _STARS, _UNDERSCORES):
        text = pattern.sub(r"\2", text)
    return _ESCAPES.sub(r"\1", _AUTOLINKS.sub(r"\1", _HALVES.sub("", text)))
