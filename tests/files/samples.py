"""Files of every kind, made here."""

import io
import zipfile
import zlib

import docx
import pptx
import xlsxwriter
from PIL import Image

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


def make_photo_on_its_side() -> bytes:
    """Return a JPEG of 900 × 600 stored pixels that is to be shown upright, with a place in its metadata."""
    exif = Image.Exif()
    exif[0x0112] = 6
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
