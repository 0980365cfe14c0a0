"""What kind of file some content is. The name of a file is not trusted, except to tell kinds of text apart."""

import posixpath
from typing import IO

import filetype

from events.payloads import FileKind

HEAD_BYTES = 8192

KNOWN_TYPES: dict[str, FileKind] = {
    "image/jpeg": FileKind.IMAGE,
    "image/png": FileKind.IMAGE,
    "image/webp": FileKind.IMAGE,
    "image/gif": FileKind.IMAGE,
    "application/pdf": FileKind.PDF,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": FileKind.DOCUMENT,
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": FileKind.SLIDES,
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": FileKind.SHEET,
}
"""The types that are recognised by their content, and their kinds. Everything else is text or `application/octet-stream`."""

TEXT_TYPES = {".csv": "text/csv", ".md": "text/markdown", ".json": "application/json"}
"""The types of texts by the extension of their name. HTML, SVG and scripts are plain text: a browser must not execute them."""


def identify_content(content: IO[bytes], name: str) -> tuple[FileKind, str]:
    """Return the kind and the content type of a file."""
    content.seek(0)
    head = content.read(HEAD_BYTES)
    guess = filetype.guess(head)
    if guess is not None and guess.mime in KNOWN_TYPES:
        return KNOWN_TYPES[guess.mime], guess.mime
    if guess is None and is_text(head):
        extension = posixpath.splitext(name)[1].lower()
        return FileKind.TEXT, TEXT_TYPES.get(extension, "text/plain")
    return FileKind.OTHER, "application/octet-stream"


def is_text(head: bytes) -> bool:
    """Return whether the beginning of a file is UTF-8 without NUL, or has the byte order mark of UTF-16."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    if b"\x00" in head:
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        # The last character may be cut.
        return error.start >= len(head) - 3 and len(head) == HEAD_BYTES
    return True
