"""Files of every kind, made here."""

import io
import struct
import zipfile
import zlib

import docx
import pptx
import xlsxwriter
from PIL import Image

from tests.hostile_web import build_bomb

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'
HTML = b"<!doctype html><script>fetch('/api/v1/me')</script>"


def make_pdf(*pages: str) -> bytes:
    """Return a PDF with a line of text on each page."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b""]
    kids = []
    for text in pages:
        stream = f"BT /F1 24 Tf 72 700 Td ({text}) Tj ET".encode("latin-1")
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 << /Type /Font"
            b" /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    return _write_pdf(objects)


def make_pdf_bomb(size: int = 1024**3) -> bytes:
    """Return a PDF of a few megabytes with a page whose content unpacks to `size` bytes."""
    packer = zlib.compressobj(9)
    zeros = bytes(1024**2)
    packed = b"".join(packer.compress(zeros) for _ in range(size // len(zeros))) + packer.flush()
    return _write_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
            b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed),
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 3 0 R >>",
        ]
    )


def make_pdf_with_script(text: str) -> bytes:
    """Return a PDF that runs a script when a viewer opens it."""
    script = b"/OpenAction << /S /JavaScript /JS (app.launchURL\\('http://evil.example'\\)) >> /Pages"
    return make_pdf(text).replace(b"/Pages", script, 1)


def make_cyclic_pdf() -> bytes:
    """Return a PDF whose tree of pages contains itself."""
    return _write_pdf(
        [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 1000000000 >>"]
    )


def make_large_pdf(text: str, size: int = 100 * 1024**2) -> bytes:
    """Return a PDF of `size` bytes with a line of text."""
    return make_pdf(text).replace(b"%PDF-1.4\n", b"%PDF-1.4\n%" + b"x" * size + b"\n", 1)


def _write_pdf(objects: list[bytes]) -> bytes:
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, 1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    start = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.write(b"".join(b"%010d 00000 n \n" % offset for offset in offsets))
    out.write(b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start))
    return out.getvalue()


def make_document(*paragraphs: str) -> bytes:
    """Return a DOCX with these paragraphs and a table."""
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "left", "right"
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def make_slides(*titles: str) -> bytes:
    """Return a PPTX with a slide for each title."""
    presentation = pptx.Presentation()
    for title in titles:
        slide = presentation.slides.add_slide(presentation.slide_layouts[0])
        slide.shapes.title.text = title
    out = io.BytesIO()
    presentation.save(out)
    return out.getvalue()


def make_sheet(*rows: tuple[object, ...], far_cell: bool = False) -> bytes:
    """Return an XLSX with these rows; `far_cell` adds a cell in the far corner of the sheet."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as workbook:
        sheet = workbook.add_worksheet("Prices")
        for number, row in enumerate(rows):
            sheet.write_row(number, 0, row)
        if far_cell:
            sheet.write(1_048_575, 16_383, "far")
    return out.getvalue()


def make_image(width: int = 900, height: int = 600, format: str = "PNG") -> bytes:
    """Return a picture of one colour."""
    out = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(out, format)
    return out.getvalue()


def make_huge_image(side: int = 50_000) -> bytes:
    """Return a complete black PNG of a few hundred kilobytes with `side` × `side` pixels of one bit."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer = zlib.compressobj(1)
    row = bytes(1 + (side + 7) // 8)
    packed = b"".join(packer.compress(row * 100) for _ in range(side // 100)) + packer.flush()
    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def make_image_with_text_bomb(size: int = 10 * 1024**3) -> bytes:
    """Return a PNG with a compressed comment that unpacks to `size` bytes."""
    text = b"Comment\x00\x00" + build_bomb("deflate", size)
    chunk = struct.pack(">I", len(text)) + b"zTXt" + text + struct.pack(">I", zlib.crc32(b"zTXt" + text))
    image = make_image(60, 40)
    behind_header = 8 + 25
    return image[:behind_header] + chunk + image[behind_header:]


def make_gray_image(level: int, transparency: int | None = None) -> bytes:
    """Return a PNG of 16-bit gray pixels of one shade, from 0 to 65,535. Pixels of the shade `transparency` are transparent."""
    out = io.BytesIO()
    options = {} if transparency is None else {"transparency": transparency}
    Image.new("I;16", (1500, 100), level).save(out, "PNG", **options)
    return out.getvalue()


def make_photo_on_its_side(orientation: int = 6) -> bytes:
    """Return a JPEG of 900 × 600 stored pixels that is to be shown upright, with a place in its metadata."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif.get_ifd(0x8825)[1] = "N"
    out = io.BytesIO()
    Image.new("RGB", (900, 600), "teal").save(out, "JPEG", exif=exif)
    return out.getvalue()


def make_zip_bomb(extension_part: str = "word/document.xml", size: int = 300 * 1024**2) -> bytes:
    """Return a DOCX of less than a megabyte that unpacks to `size` bytes."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(make_document("hi"))) as original,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as bomb,
    ):
        for info in original.infolist():
            if info.filename != extension_part:
                bomb.writestr(info, original.read(info))
        with bomb.open(extension_part, "w") as part:
            for _ in range(size // 1024**2):
                part.write(bytes(1024**2))
    return out.getvalue()


def make_archive_that_lies(original: bytes, name: str, size: int = 10 * 1024**3) -> bytes:
    """Return an office file with a part that unpacks to `size` bytes, and has a hundred according to the archive."""
    stored = zipfile.ZipInfo(name)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(original)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            if info.filename != name:
                new.writestr(info.filename, old.read(info))
        new.writestr(stored, build_bomb("raw", size), zipfile.ZIP_STORED)
    content = bytearray(out.getvalue())
    # The part is compressed already: both headers get that method and the wrong size.
    directory = content.rfind(name.encode()) - 46
    for start, method, unpacked in ((stored.header_offset, 8, 22), (directory, 10, 24)):
        struct.pack_into("<H", content, start + method, zipfile.ZIP_DEFLATED)
        struct.pack_into("<I", content, start + unpacked, 100)
    return bytes(content)


def replace_part(original: bytes, name: str, part: bytes) -> bytes:
    """Return an office file with another content of one of its parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(original)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            new.writestr(info.filename, part if info.filename == name else old.read(info))
    return out.getvalue()


WORD = b'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def make_document_with_entities(definitions: bytes, used: bytes) -> bytes:
    """Return a DOCX with a paragraph that uses an entity of its own document type."""
    xml = b"<?xml version='1.0'?><!DOCTYPE d [%s]><w:document %s><w:body><w:p><w:r><w:t>%s</w:t></w:r></w:p></w:body></w:document>"
    return replace_part(make_document("hi"), "word/document.xml", xml % (definitions, WORD, used))


def make_deep_document(depth: int = 100_000) -> bytes:
    """Return a DOCX of a few kilobytes whose elements are nested."""
    nested = b"<w:sdt>" * depth + b"</w:sdt>" * depth
    xml = b"<w:document %s><w:body>%s</w:body></w:document>" % (WORD, nested)
    return replace_part(make_document("hi"), "word/document.xml", xml)


def make_sheet_with_entities(definitions: bytes, used: bytes) -> bytes:
    """Return an XLSX whose text uses an entity of its own document type."""
    xml = (
        b"<?xml version='1.0'?><!DOCTYPE d [%s]><sst xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'"
        b" count='1' uniqueCount='1'><si><t>%s</t></si></sst>"
    )
    return replace_part(make_sheet(("hi",)), "xl/sharedStrings.xml", xml % (definitions, used))
