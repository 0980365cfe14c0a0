"""Reads one file. Runs as a script in a process of its own (see `process`), because the libraries that read PDF, office files
and images are large, partly written in C, and a hostile file can make them use any amount of time and memory.

It imports only modules of this app that need neither Django nor other apps, and these only when a file needs them. argv: the
kind of the file. stdin: its content. stdout: a line of JSON.
"""

import json
import os
import resource
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MAX_MEMORY_BYTES = 1024**3
MAX_CPU_SECONDS = 20
MAX_CHARACTERS = 1_000_000
"""Characters of text that are kept."""
MAX_TEXT_BYTES = 4 * (MAX_CHARACTERS + 2)
"""The bytes of a plain text that are decoded: no encoding has characters of more than four bytes."""


def read_file(kind: str, content: bytes) -> dict[str, Any]:
    """Return what was read of a file: `text` and `is_cut`; of a plain text its `encoding`; of an image `width`, `height` and a
    `thumbnail` (WebP in base64); of a PDF and of slides `pages`; and `no_text_reason` if its pages have no text.

    Raises `UnreadableContent`, and whatever the libraries raise.
    """
    if kind == "image":
        from files.reading.images import read_image

        return read_image(content)
    if kind == "text":
        from files.text_encodings import decode_text

        whole, encoding = decode_text(content[:MAX_TEXT_BYTES])
        text, is_cut = _join([whole])
        return {"text": text, "is_cut": is_cut, "encoding": encoding}
    if kind == "pdf":
        from files.reading.pdfs import PdfText

        pdf = PdfText(content)
        text, is_cut = _join(pdf)
        if not pdf.has_text and not is_cut:
            return {"text": "", "pages": pdf.pages, "no_text_reason": "scanned"}
        return {"text": text, "is_cut": is_cut, "pages": pdf.pages}
    if kind == "sheet":
        from files.reading.sheets import read_sheets

        text, is_cut = _join(read_sheets(content))
        return {"text": text, "is_cut": is_cut}
    if kind not in ("document", "slides"):
        raise ValueError(f"Files of the kind {kind} have no text.")
    return _read_office_file(kind, content)


def _read_office_file(kind: str, content: bytes) -> dict[str, Any]:
    from files.reading.archives import open_archive

    archive = open_archive(content).fp
    pages: int | None = None
    if kind == "document":
        from files.reading.documents import read_document

        parts = read_document(archive)
    else:
        from files.reading.slides import read_slides

        pages, parts = read_slides(archive)
    text, is_cut = _join(parts)
    return {"text": text, "is_cut": is_cut, "pages": pages}


def _join(parts: Iterable[str]) -> tuple[str, bool]:
    """Return the parts, one below the other, up to `MAX_CHARACTERS`, and whether there are more."""
    found: list[str] = []
    size = 0
    for part in parts:
        if size + len(part) > MAX_CHARACTERS:
            return "\n".join([*found, part])[:MAX_CHARACTERS], True
        found.append(part)
        size += len(part) + 1
    return "\n".join(found), False


def main() -> None:
    """Read the file on stdin, and write what was read, or why nothing was, to stdout."""
    os.nice(5)  # conversations have priority over reading files
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    # The process is isolated: Python has not added our folder.
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    content = sys.stdin.buffer.read()
    # Libraries may print to stdout.
    stdout, sys.stdout = sys.stdout, sys.stderr
    try:
        found = read_file(sys.argv[1], content)
    except Exception as error:  # noqa: BLE001 -- the libraries have no class of errors in common
        traceback.print_exc()
        found = {"failed_reason": _get_reason(error)}
    print(json.dumps(found), file=stdout, flush=True)


def _get_reason(error: Exception) -> str:
    """Return the value of `NoTextReason` for an error."""
    # The libraries' own errors for a password have this name.
    if type(error).__name__ == "PasswordError":
        return "password"
    return "too_large" if isinstance(error, MemoryError) else getattr(error, "reason", "damaged")


if __name__ == "__main__":
    main()
