"""Reads one file. Runs as a script in a process of its own (see `process`), because the libraries that read PDF, office files
and images are large, partly written in C, and a hostile file can make them use any amount of time and memory.

It imports no other module of ours. argv: the kind of the file. stdin: its content. stdout: a line of JSON.
"""

import base64
import io
import json
import os
import resource
import sys
import warnings
import zipfile
from collections.abc import Iterable, Iterator
from typing import Any

MAX_MEMORY_BYTES = 1024**3
MAX_CPU_SECONDS = 20
MAX_CHARACTERS = 1_000_000
"""Characters of text that are kept."""
MAX_UNPACKED_BYTES = 200 * 1024**2
MAX_COMPRESSION = 200
"""How much larger an unpacked office file may be than the packed one, when it unpacks to more than `UNCHECKED_UNPACKED_BYTES`."""
UNCHECKED_UNPACKED_BYTES = 10 * 1024**2
MAX_CELLS = 2_000_000
"""Cells of the rectangle that a sheet spans, whether they hold anything or not."""
MAX_PIXELS = 40_000_000
THUMBNAIL_PIXELS = 1024
"""The longer side of a thumbnail, which models read, too."""


def read_file(kind: str, content: bytes) -> dict[str, Any]:
    """Return what was read of a file: `text` and `is_cut`; of an image `width`, `height` and a `thumbnail` (WebP in base64); of a
    PDF and of slides `pages`. Raises whatever the libraries raise.
    """
    if kind == "image":
        return _read_image(content)
    pages: int | None = None
    if kind == "pdf":
        pages, parts = _read_pdf(content)
    elif kind == "text":
        encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
        parts = iter([content.decode(encoding, "replace")])
    else:
        _check_archive(content)
        if kind == "document":
            parts = _read_document(content)
        elif kind == "slides":
            pages, parts = _read_slides(content)
        elif kind == "sheet":
            parts = _read_sheet(content)
        else:
            raise ValueError(f"Files of the kind {kind} have no text.")
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


def _read_image(content: bytes) -> dict[str, Any]:
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = MAX_PIXELS
    warnings.simplefilter("error", Image.DecompressionBombWarning)
    with Image.open(io.BytesIO(content), formats=("JPEG", "PNG", "WEBP", "GIF")) as image:
        width, height = image.size
        # A photo of a camera may be stored on its side: EXIF says so by the orientations 5 to 8.
        if image.getexif().get(0x0112) in (5, 6, 7, 8):
            width, height = height, width
        image.draft("RGB", (THUMBNAIL_PIXELS, THUMBNAIL_PIXELS))
        upright = ImageOps.exif_transpose(image)
        upright.thumbnail((THUMBNAIL_PIXELS, THUMBNAIL_PIXELS))
        has_alpha = upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info
        if upright.mode == "I;16":
            # A PNG of 16-bit gray: `convert` alone clips its values at 255. Its transparent value, which has 16 bits, is ignored.
            upright, has_alpha = upright.point(lambda value: value / 256).convert("L"), False
        thumbnail = io.BytesIO()
        # A new image has none of the metadata, such as the place where a photo was taken.
        upright.convert("RGBA" if has_alpha else "RGB").save(thumbnail, "WEBP", quality=80)
    return {"width": width, "height": height, "thumbnail": base64.b64encode(thumbnail.getvalue()).decode()}


def _read_pdf(content: bytes) -> tuple[int, Iterator[str]]:
    import pypdfium2

    document = pypdfium2.PdfDocument(content)

    def list_page_texts() -> Iterator[str]:
        for number in range(len(document)):
            page = document[number]
            text_page = page.get_textpage()
            yield f"[page {number + 1}]\n{text_page.get_text_bounded()}"
            text_page.close()
            page.close()

    return len(document), list_page_texts()


def _check_archive(content: bytes) -> None:
    """Refuse office files, which are ZIP archives, that unpack to very much."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        unpacked = sum(info.file_size for info in archive.infolist())
    is_compressed_too_much = unpacked > UNCHECKED_UNPACKED_BYTES and unpacked > MAX_COMPRESSION * len(content)
    if unpacked > MAX_UNPACKED_BYTES or is_compressed_too_much:
        raise ValueError("It unpacks to too much.")


def _read_document(content: bytes) -> Iterator[str]:
    import docx
    from docx.table import Table

    for block in docx.Document(io.BytesIO(content)).iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                yield " | ".join(cell.text for cell in row.cells)
        else:
            yield block.text


def _read_slides(content: bytes) -> tuple[int, Iterator[str]]:
    import pptx

    slides = pptx.Presentation(io.BytesIO(content)).slides

    def read_slides() -> Iterator[str]:
        for number, slide in enumerate(slides, 1):
            yield f"[slide {number}]"
            for shape in slide.shapes:
                if shape.has_text_frame:
                    yield shape.text_frame.text
                if shape.has_table:
                    for row in shape.table.rows:
                        yield " | ".join(cell.text for cell in row.cells)
            if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
                yield f"[notes] {slide.notes_slide.notes_text_frame.text}"

    return len(slides), read_slides()


def _read_sheet(content: bytes) -> Iterator[str]:
    import python_calamine

    workbook = python_calamine.load_workbook(io.BytesIO(content))
    for name in workbook.sheet_names:
        sheet = workbook.get_sheet_by_name(name)
        if sheet.total_height * sheet.total_width > MAX_CELLS:
            raise ValueError("A sheet spans too many cells.")
        yield f"[sheet {name}]"
        for row in sheet.to_python():
            cells = ["" if cell is None else str(cell) for cell in row]
            if any(cells):
                yield " | ".join(cells)


def main() -> None:
    """Read the file on stdin, and write what was read to stdout."""
    os.nice(5)  # conversations have priority over reading files
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS))
    content = sys.stdin.buffer.read()
    # Libraries may print to stdout.
    stdout, sys.stdout = sys.stdout, sys.stderr
    print(json.dumps(read_file(sys.argv[1], content)), file=stdout, flush=True)


if __name__ == "__main__":
    main()
