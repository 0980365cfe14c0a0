"""Files of every kind, made here."""

import io
import struct
import zipfile
import zlib
from base64 import b64decode
from collections.abc import Callable

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


HEIC = b64decode(
    "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAVZtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAACJpbG9jAAAAAERA"
    "AAEAAQAAAAABegABAAAAAAAAABsAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAAAA5waXRtAAAAAAABAAAA1mlwcnAAAAC3aXBjbwAA"
    "AHhodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQGEAAQArQgEBA3AAAAMAkAAAAwAAAwAeoDCBBZbq"
    "SSmubgIaDAgAAAMAyAAAAwAIQGIAAQAHRAHBcrAiQAAAABNjb2xybmNseAABAA0ABoAAAAAUaXNwZQAAAAAAAABgAAAAQAAAABBwaXhpAAAAAAMICAgA"
    "AAAXaXBtYQAAAAAAAAABAAEEgQIDBAAAACNtZGF0AAAAFygBrxmA93yFN//2zMEc0dv9fBXitCs8"
)
"""A teal picture of 96 × 64 pixels, as an iPhone stores its photos."""


def make_huge_heic(side: int = 60_000) -> bytes:
    """Return a HEIC of a few hundred bytes that says of itself that it has `side` × `side` pixels."""
    return HEIC.replace(struct.pack(">II", 96, 64), struct.pack(">II", side, side))


def make_pdf_with_password() -> bytes:
    """Return a PDF that is encrypted with a password."""
    secret = b"<%s>" % (b"5a" * 32)
    encryption = b"<< /Filter /Standard /V 1 /R 2 /O %s /U %s /P -4 >>" % (secret, secret)
    return make_pdf("secret").replace(
        b"trailer << ", b"trailer << /ID [%s %s] /Encrypt %s " % (secret, secret, encryption)
    )


def rename_parts(original: bytes, rename: Callable[[str], str], folders: tuple[str, ...] = ()) -> bytes:
    """Return an office file whose parts have other names, after entries for these folders."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(original)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for folder in folders:
            new.writestr(folder, b"")
        for name in old.namelist():
            new.writestr(rename(name), old.read(name))
    return out.getvalue()


def make_document_of(xml: str) -> bytes:
    """Return a DOCX whose body has these elements."""
    document = (
        '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
        ' xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
        f' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><w:body>{xml}</w:body></w:document>'
    )
    return replace_part(make_document("hi"), "word/document.xml", document.encode())


def make_workbook(rows: str, *, strings: str = "", calculation: str = "", formats: str = "", styles: str = "") -> bytes:
    """Return an XLSX with these elements `row`, items `si`, formats `numFmt` and styles `xf`."""
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"

    def build_relations(*targets: tuple[str, str]) -> str:
        items = "".join(
            f'<Relationship Id="r{number}" Type="{relations}/{type}" Target="{target}"/>'
            for number, (type, target) in enumerate(targets)
        )
        return f'<Relationships xmlns="{package}/relationships">{items}</Relationships>'

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{package}/content-types"/>')
        archive.writestr("_rels/.rels", build_relations(("officeDocument", "xl/workbook.xml")))
        sheet = f'<sheet name="S" sheetId="1" r:id="r0" xmlns:r="{relations}"/>'
        archive.writestr("xl/workbook.xml", f"<workbook {main}><sheets>{sheet}</sheets>{calculation}</workbook>")
        targets = ("worksheet", "worksheets/sheet1.xml"), ("sharedStrings", "/xl/strings.xml"), ("styles", "styles.xml")
        archive.writestr("xl/_rels/workbook.xml.rels", build_relations(*targets))
        archive.writestr("xl/strings.xml", f"<sst {main}>{strings}</sst>")
        numbers = f"<numFmts>{formats}</numFmts><cellXfs>{styles}</cellXfs>"
        archive.writestr("xl/styles.xml", f"<styleSheet {main}>{numbers}</styleSheet>")
        archive.writestr("xl/worksheets/sheet1.xml", f"<worksheet {main}><sheetData>{rows}</sheetData></worksheet>")
    return out.getvalue()


def make_row(number: int, *cells: str) -> str:
    """Return the element of a row. `cells`: attributes and content of each, such as `r="A1"><v>7</v>`."""
    return f'<row r="{number}">{"".join(f"<c {cell}</c>" for cell in cells)}</row>'


def make_old_sheet(*rows: tuple[str | float, ...], password: bool = False, far_cell: bool = False) -> bytes:
    """Return an XLS, as Excel saved until 2003, with these rows."""

    def record(type: int, data: bytes) -> bytes:
        return struct.pack("<HH", type, len(data)) + data

    def begin(type: int) -> bytes:
        return record(0x0809, struct.pack("<HHHHII", 0x0600, type, 0, 1997, 0, 6))

    cells = b""
    for y, row in enumerate(rows):
        for x, value in enumerate(row):
            if isinstance(value, str):
                text = struct.pack("<HB", len(value), 1) + value.encode("utf-16-le")
                cells += record(0x0204, struct.pack("<HHH", y, x, 0) + text)
            else:
                cells += record(0x0203, struct.pack("<HHHd", y, x, 0, value))
    if far_cell:
        cells += record(0x0203, struct.pack("<HHHd", 65_535, 255, 0, 5.0))
    protection = record(0x002F, struct.pack("<HHH", 1, 1, 1) + bytes(48)) if password else b""
    name = struct.pack("<BB", 6, 0) + b"Prices"
    end = record(0x000A, b"")
    opening = begin(0x0005) + protection
    position = len(opening) + 4 + 6 + len(name) + len(end)
    sheet = record(0x0085, struct.pack("<IH", position, 0) + name)
    return make_ole_file("Workbook", opening + sheet + end + begin(0x0010) + cells + end)


def make_cyclic_old_sheet() -> bytes:
    """Return an XLS whose table of sectors leads from each sector to the same one."""
    content = bytearray(make_old_sheet(("a",)))
    content[512 + 8 : 1024] = struct.pack("<I", 2) * 126
    return bytes(content)


def make_old_sheet_beyond_its_end() -> bytes:
    """Return an XLS whose directory is behind the end of the file, and whose sectors are larger than any file."""
    content = bytearray(make_old_sheet(("a",)))
    struct.pack_into("<H", content, 30, 65_535)
    struct.pack_into("<I", content, 48, 2**32 - 2)
    return bytes(content)


def make_archive_of_many_names(count: int = 1_000_000) -> bytes:
    """Return a ZIP with so many empty files, of which the last ones are those of an XLSX."""
    entry = struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    names = b"".join(
        entry[:28] + struct.pack("<H", len(name)) + entry[30:-1] + name for name in (b"xl/a", b"[Content_Types].xml")
    )
    directory = entry * count + names
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, len(directory), 4, 0)
    return b"PK\x03\x04" + directory + end


def make_sheet_without_end(cells: int = 6_000_000) -> bytes:
    """Return an XLSX of a few hundred kilobytes with one row of so many empty cells."""
    head, tail = (
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row>',
        b"</row>",
    )
    return replace_part(make_sheet(("hi",)), "xl/worksheets/sheet1.xml", head + b"<c/>" * cells + tail)


def make_repeated_open_sheet() -> bytes:
    """Return an ODS with a cell that is repeated in all rows and columns."""
    content = read_part(make_open_sheet(("a",)), "content.xml")
    content = content.replace(b"<table:table-row>", b'<table:table-row table:number-rows-repeated="1048576">')
    content = content.replace(b"<table:table-cell ", b'<table:table-cell table:number-columns-repeated="16384" ')
    return replace_part(make_open_sheet(("a",)), "content.xml", content)


def make_ole_file(name: str, stream: bytes) -> bytes:
    """Return a file in the format of old office files with one stream."""
    stream = stream.ljust(-(-max(len(stream), 4096) // 512) * 512, b"\0")
    count = len(stream) // 512

    def entry(name: str, type: int, child: int, start: int, size: int) -> bytes:
        encoded = name.encode("utf-16-le")
        head = encoded.ljust(64, b"\0") + struct.pack("<HBBIII", len(encoded) + 2, type, 1, 2**32 - 1, 2**32 - 1, child)
        return (head + bytes(36) + struct.pack("<IQ", start, size)).ljust(128, b"\0")

    # Sector 0 is the table of sectors, sector 1 the directory, the stream follows.
    table = [0xFFFFFFFD, 0xFFFFFFFE, *range(3, count + 2), 0xFFFFFFFE]
    sectors = struct.pack(f"<{len(table)}I", *table).ljust(512, b"\xff")
    directory = entry("Root Entry", 5, 1, 0xFFFFFFFE, 0) + entry(name, 2, 2**32 - 1, 2, len(stream)) + bytes(256)
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(10)
    header += struct.pack("<IIIIIIII", 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0) + struct.pack("<I", 0)
    return header.ljust(512, b"\xff") + sectors + directory + stream


def make_open_sheet(*rows: tuple[str | float, ...]) -> bytes:
    """Return an ODS with these rows."""
    cells = ""
    for row in rows:
        values = (
            f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
            if isinstance(value, str)
            else f'<table:table-cell office:value-type="float" office:value="{value}"><text:p/></table:table-cell>'
            for value in row
        )
        cells += f"<table:table-row>{''.join(values)}</table:table-row>"
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
    )
    body = (
        f'<office:body><office:spreadsheet><table:table table:name="Prices">{cells}</table:table></office:spreadsheet>'
    )
    type = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{type}"/></manifest:manifest>'
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", type, zipfile.ZIP_STORED)
        archive.writestr(
            "content.xml", f"<office:document-content {spaces}>{body}</office:body></office:document-content>"
        )
        archive.writestr("META-INF/manifest.xml", manifest)
    return out.getvalue()


def read_part(original: bytes, name: str) -> bytes:
    """Return a part of an office file."""
    with zipfile.ZipFile(io.BytesIO(original)) as archive:
        return archive.read(name)
