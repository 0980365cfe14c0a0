"""What kind of file some content is. The name of a file is not trusted, except to tell kinds of text apart.

The order of the questions: an archive or a picture by its signature, unless the beginning is a text in UTF-8; a PDF; a text in any
encoding. A signature of a few letters does not outweigh a text: a table may begin with `BMI`.
"""

import posixpath
import re
import struct
import zipfile
import zlib
from typing import IO, NamedTuple

import filetype

from events.payloads import FileKind, NoTextReason
from files.text_encodings import is_text, is_utf8

HEAD_BYTES = 8192
PDF_HEAD_BYTES = 1024
"""Readers of PDF look for its header in so many bytes: printers and mail programs write lines before it."""
TAIL_BYTES = 65_557
"""The end of an archive, with a comment of any length."""
MAX_DIRECTORY_BYTES = 1024**2
"""How much of the list of the files in an archive is read."""

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
POWERPOINT = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
OLD_EXCEL = "application/vnd.ms-excel"
OPEN_SHEET = "application/vnd.oasis.opendocument.spreadsheet"
PDF = "application/pdf"
UNKNOWN = "application/octet-stream"

KNOWN_TYPES: dict[str, FileKind] = {
    "image/jpeg": FileKind.IMAGE,
    "image/png": FileKind.IMAGE,
    "image/webp": FileKind.IMAGE,
    "image/gif": FileKind.IMAGE,
    "image/heic": FileKind.IMAGE,
    PDF: FileKind.PDF,
    WORD: FileKind.DOCUMENT,
    POWERPOINT: FileKind.SLIDES,
    EXCEL: FileKind.SHEET,
    OLD_EXCEL: FileKind.SHEET,
    OPEN_SHEET: FileKind.SHEET,
}
"""The types that are recognised by their content, and their kinds. Everything else is text or `application/octet-stream`."""

TEXT_TYPES = {".csv": "text/csv", ".md": "text/markdown", ".json": "application/json"}
"""The types of texts by the extension of their name. HTML, SVG and scripts are plain text: a browser must not execute them."""

_ZIP = b"PK\x03\x04"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_HEADER_BYTES = 512
_RTF = b"{\\rtf"
_PARTS = {"word/": WORD, "ppt/": POWERPOINT, "xl/": EXCEL}
"""The folders of office files, and their types. Programs name the parts in them, and order them, as they like."""


class Identified(NamedTuple):
    """What a file is. `no_text_reason`: why it is known already that no text can be read from it."""

    kind: FileKind
    content_type: str
    no_text_reason: NoTextReason | None = None


def identify_content(content: IO[bytes], name: str) -> Identified:
    """Return the kind and the content type of a file."""
    content.seek(0)
    head = content.read(HEAD_BYTES)
    is_whole = len(head) < HEAD_BYTES
    if _is_pdf(content, head):
        return Identified(FileKind.PDF, PDF)
    if not is_utf8(head, is_whole=is_whole):
        if head.startswith(_OLE) and len(head) >= _OLE_HEADER_BYTES:
            return _identify_old_office_file(content, head)
        found = _find_office_type(content) if head.startswith(_ZIP) else filetype.guess_mime(head)
        if found in KNOWN_TYPES:
            return Identified(KNOWN_TYPES[found], found)
    if is_text(head, is_whole=is_whole) and not head.startswith(_RTF):
        extension = posixpath.splitext(name)[1].lower()
        return Identified(FileKind.TEXT, TEXT_TYPES.get(extension, "text/plain"))
    return Identified(FileKind.OTHER, UNKNOWN, NoTextReason.FORMAT)


def _is_pdf(content: IO[bytes], head: bytes) -> bool:
    """Return whether a file is a PDF: by its header, and something that a text about PDF does not have."""
    header = re.search(rb"%PDF-\d", head[:PDF_HEAD_BYTES])
    if header is None:
        return False
    is_binary = not is_utf8(head, is_whole=len(head) < HEAD_BYTES)
    return is_binary or b" obj" in head[header.end() :] or b"startxref" in _read_tail(content)


def _read_tail(content: IO[bytes]) -> bytes:
    content.seek(0, 2)
    content.seek(max(0, content.tell() - TAIL_BYTES))
    return content.read(TAIL_BYTES)


def _find_office_type(content: IO[bytes]) -> str | None:
    """Return the type of an office file by the names in its archive; null if it is another archive. Only the names are read."""
    names = _list_names(content)
    if "mimetype" in names and "content.xml" in names:
        return OPEN_SHEET if _read_first_file(content) == OPEN_SHEET.encode() else None
    if "[content_types].xml" not in names:
        return None
    return next((type for folder, type in _PARTS.items() if any(name.startswith(folder) for name in names)), None)


def _read_first_file(content: IO[bytes]) -> bytes:
    """Return the beginning of the first file in a ZIP archive, in which the type of an OpenDocument file stands."""
    content.seek(0)
    head = content.read(HEAD_BYTES)
    method, packed, name, extra = struct.unpack_from("<H8xI4xHH", head, 8)
    data = head[30 + name + extra :]
    if method == zipfile.ZIP_STORED:
        return data[: packed or len(OPEN_SHEET)]  # a streamed archive has no sizes here
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, HEAD_BYTES)
    except zlib.error:
        return b""


def _list_names(content: IO[bytes]) -> set[str]:
    """Return the names of the files in a ZIP archive, as far as they stand in the first `MAX_DIRECTORY_BYTES` of its directory, in
    lower case and with slashes. `zipfile` would read all of a directory that a hostile archive has made long."""
    tail = _read_tail(content)
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or end + 20 > len(tail):
        return set()
    size, offset = struct.unpack_from("<II", tail, end + 12)
    # What stands before the archive moves it: the directory is right before its end.
    content.seek(0, 2)
    start = content.tell() - len(tail) + end - size
    content.seek(start if start >= 0 else offset)
    directory = content.read(min(size, MAX_DIRECTORY_BYTES))
    names: set[str] = set()
    at = 0
    while directory[at : at + 4] == b"PK\x01\x02" and at + 46 <= len(directory):
        lengths = struct.unpack_from("<HHH", directory, at + 28)
        name = directory[at + 46 : at + 46 + lengths[0]].decode("utf-8", "replace")
        names.add(name.replace("\\", "/").removeprefix("/").lower())
        at += 46 + sum(lengths)
    return names


def _identify_old_office_file(content: IO[bytes], head: bytes) -> Identified:
    """Return what an OLE file is, by the first stream of a known name. Office files with a password are such files, too."""
    # The format: the sizes are powers of two, and the directory begins in the sector that the header names.
    sector_size, start = 2 ** min(struct.unpack_from("<H", head, 30)[0], 16), struct.unpack_from("<I", head, 48)[0]
    content.seek((start + 1) * sector_size)
    directory = content.read(HEAD_BYTES)
    for at in range(0, len(directory) - 127, 128):
        length = min(struct.unpack_from("<H", directory, at + 64)[0], 64)
        stream = directory[at : at + max(length - 2, 0)].decode("utf-16-le", "replace")
        if stream == "EncryptedPackage":
            return Identified(FileKind.OTHER, UNKNOWN, NoTextReason.PASSWORD)
        if stream in ("WordDocument", "PowerPoint Document"):
            break
        if stream in ("Workbook", "Book"):
            return Identified(FileKind.SHEET, OLD_EXCEL)
    return Identified(FileKind.OTHER, UNKNOWN, NoTextReason.FORMAT)
