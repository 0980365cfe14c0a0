"""Files as people's programs write them: what they are taken for, and what is read of them."""

import codecs
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO

import pptx
import pytest
from PIL import Image
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.util import Inches

from files.content_types import identify_content
from files.reading.process import UnreadableFile, read_in_process
from files.reading.reader import read_file
from tests.files import samples


@dataclass(frozen=True)
class Real:
    """A file, what it is taken for, and the text that is read of it."""

    make: Callable[[], bytes]
    text: str
    kind: str = "text"
    encoding: str = ""
    name: str = "file"


def text(written: str, codec: str, encoding: str) -> Real:
    return Real(lambda: written.encode(codec), written, encoding=encoding, name="table.csv")


LOG = "启动 ok\n停止 ok\n".encode() * 400
TEXTS = {
    "GBK": text("姓名,部门,金额", "gbk", "GB18030"),
    "GBK, two characters": text("发票", "gbk", "GB18030"),
    "GB18030, a table": text("姓名,部门,金额\r\n张三,财务部,1200.50\r\n镕基,市场部,7\r\n", "gb18030", "GB18030"),
    "Big5": text("姓名,部門,金額", "big5", "Big5"),
    "Big5, second bytes of ASCII": text("功能,許功蓋,餐廳", "big5", "Big5"),
    "Big5 of Hong Kong": text("唔該,佢哋嘅文件", "big5hkscs", "Big5"),
    "Shift_JIS": text("氏名,部署,金額\r\n山田太郎,ソフト,ﾃｽﾄ", "cp932", "Shift_JIS"),
    "Windows-1252": text("Müller;1.200,50 €", "cp1252", "Windows-1252"),
    "Windows-1252, one word": text("Café", "cp1252", "Windows-1252"),
    "Windows-1252, quotes and signs": text("“It’s 5 °C” – £3…", "cp1252", "Windows-1252"),
    "Windows-1251": text("Имя;Отдел;Сумма\r\nИванов;Продажи;5", "cp1251", "Windows-1251"),
    "UTF-8": text("姓名,部門\r\nMüller,5 €", "utf-8", "UTF-8"),
    "UTF-8 with a mark": Real(lambda: codecs.BOM_UTF8 + "姓名,€".encode(), "姓名,€", encoding="UTF-8"),
    "a log with one byte": Real(
        lambda: LOG + b"\xe9\n" + LOG, f"{LOG.decode()}\ufffd\n{LOG.decode()}", encoding="UTF-8"
    ),
    "a character at the end of the head": Real(
        lambda: b"a" * 8191 + "界é".encode(), "a" * 8191 + "界é", encoding="UTF-8"
    ),
    "GBK behind 8 kB of ASCII": Real(
        lambda: b"a," * 5000 + "姓名,部门,金额".encode("gbk"), "a," * 5000 + "姓名,部门,金额", encoding="GB18030"
    ),
    "GBK with one broken byte": Real(
        lambda: "姓名,部门,金额\n".encode("gbk") * 50 + b"\xff\n",
        "姓名,部门,金额\n" * 50 + "\ufffd\n",
        encoding="GB18030",
    ),
    "UTF-16 LE without a mark": text("姓名,部门\r\n一,2\r\n", "utf-16-le", "UTF-16"),
    "UTF-16 BE without a mark": text("name,amount\r\nMüller,5", "utf-16-be", "UTF-16"),
    "UTF-32 with a mark": text("姓名,5", "utf-32", "UTF-32"),
    "begins as a BMP": text("BMI,weight\n22,70", "utf-8", "UTF-8"),
    "begins as a program": text("MZ-2000 manual", "utf-8", "UTF-8"),
    "begins as PostScript": text("%!TEX program = xelatex\n\\documentclass{article}", "utf-8", "UTF-8"),
    "begins as a GIF": text("GIF89a is a format of pictures", "utf-8", "UTF-8"),
    "begins as an archive, in GBK": text("PK,对手,比分\n1,张三,5", "gbk", "GB18030"),
    "speaks about PDF": text("# Notes\nA PDF begins with %PDF-1.7, a line that is often searched.", "utf-8", "UTF-8"),
    "a terminal's colours": text("\x1b[31merror\x1b[0m done", "utf-8", "UTF-8"),
}

RUN = "<w:r><w:t>{}</w:t></w:r>"
CELL = "<w:tc>{}</w:tc>"
INSERTED = (
    '<w:ins w:id="1"><w:r><w:t>4,200 euros</w:t></w:r></w:ins>'
    '<w:del w:id="2"><w:r><w:delText>3,000</w:delText></w:r></w:del>'
)


def paragraph(*texts: str) -> str:
    return f"<w:p>{''.join(f'<w:r><w:t>{text}</w:t></w:r>' for text in texts)}</w:p>"


def document(xml: str, text: str) -> Real:
    return Real(lambda: samples.make_document_of(xml), text, "document")


DOCUMENTS = {
    "a tracked insertion": document(f"<w:p>{RUN.format('The price is ')}{INSERTED}</w:p>", "The price is 4,200 euros"),
    "an inserted paragraph, a deleted row": document(
        f'<w:ins w:id="1">{paragraph("new")}</w:ins><w:tbl><w:tr><w:trPr><w:del w:id="2"/></w:trPr>{CELL.format(paragraph("old"))}'
        f"</w:tr><w:tr>{CELL.format(paragraph('kept'))}</w:tr></w:tbl>",
        "new\nkept",
    ),
    "a text that was moved": document(
        f'<w:p><w:moveFrom w:id="1">{RUN.format("moved")}</w:moveFrom></w:p>'
        f'<w:p><w:moveTo w:id="2">{RUN.format("moved")}</w:moveTo></w:p>',
        "\nmoved",
    ),
    "content controls": document(
        f"<w:sdt><w:sdtPr/><w:sdtContent>{paragraph('block')}</w:sdtContent></w:sdt>"
        f"<w:p><w:sdt><w:sdtContent>{RUN.format('in a line')}</w:sdtContent></w:sdt></w:p>",
        "block\nin a line",
    ),
    "a control around a row and a cell": document(
        f"<w:tbl><w:sdt><w:sdtContent><w:tr><w:sdt><w:sdtContent>{CELL.format(paragraph('a'))}</w:sdtContent></w:sdt>"
        f"{CELL.format(paragraph('b'))}</w:tr></w:sdtContent></w:sdt></w:tbl>",
        "a | b",
    ),
    "a table in a cell": document(
        f"<w:tbl><w:tr>{CELL.format(paragraph('outer'))}"
        f"<w:tc><w:tbl><w:tr>{CELL.format(paragraph('inner'))}{CELL.format(paragraph('2'))}</w:tr></w:tbl>{paragraph()}</w:tc>"
        "</w:tr></w:tbl>",
        "outer | inner | 2",
    ),
    "a title over three cells": document(
        f'<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="3"/></w:tcPr>{paragraph("Title")}</w:tc></w:tr>'
        f"<w:tr>{CELL.format(paragraph('a')) * 3}</w:tr></w:tbl>",
        "Title\na | a | a",
    ),
    "a text box, once": document(
        "<w:p><w:r><w:t>before</w:t><mc:AlternateContent>"
        f'<mc:Choice Requires="wps"><w:drawing><w:txbxContent>{paragraph("box")}</w:txbxContent></w:drawing></mc:Choice>'
        f"<mc:Fallback><w:pict><w:txbxContent>{paragraph('box')}</w:txbxContent></w:pict></mc:Fallback>"
        "</mc:AlternateContent></w:r></w:p>",
        "before\nbox",
    ),
    "a link, a field, a formula": document(
        f"<w:p><w:hyperlink>{RUN.format('link')}</w:hyperlink><w:fldSimple>{RUN.format(' 3')}</w:fldSimple>"
        "<m:oMath><m:r><m:t> x+1</m:t></m:r></m:oMath><w:r><w:tab/><w:t>tab</w:t><w:br/></w:r></w:p>",
        "link 3 x+1\ttab\n",
    ),
    "backslashes in the names": Real(
        lambda: samples.rename_parts(samples.make_document("hi"), lambda name: name.replace("/", "\\")),
        "hi\nleft | right",
        "document",
    ),
    "a template with macros": Real(
        lambda: samples.replace_part(
            samples.make_document("hi"),
            "[Content_Types].xml",
            samples.read_part(samples.make_document("hi"), "[Content_Types].xml").replace(
                b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
                b"application/vnd.ms-word.template.macroEnabledTemplate.main+xml",
            ),
        ),
        "hi\nleft | right",
        "document",
    ),
}


def make_grouped_slide() -> bytes:
    """Return a PPTX with a text box in a group in a group, a merged title in a table, and a diagram."""
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    group = slide.shapes.add_group_shape()
    box = group.shapes.add_textbox(0, 0, Inches(1), Inches(1))
    box.text_frame.text = "in a group"
    inner = group.shapes.add_group_shape()
    inner.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "in two groups"
    table = slide.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(1)).table
    table.cell(0, 0).merge(table.cell(0, 1))
    table.cell(0, 0).text, table.cell(1, 0).text, table.cell(1, 1).text = "Title", "a", "b"
    space = b'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    diagram = Part(
        PackURI("/ppt/diagrams/data1.xml"),
        "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml",
        presentation.part.package,
        b"<d %s><a:p><a:r><a:t>in a diagram</a:t></a:r></a:p></d>" % space,
    )
    relations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    slide.part.relate_to(diagram, f"{relations}/diagramData")
    out = BytesIO()
    presentation.save(out)
    return out.getvalue()


SLIDES = {
    "groups, a table, a diagram": Real(
        make_grouped_slide, "[slide 1]\nin a group\nin two groups\nTitle\na | b\nin a diagram", "slides"
    ),
    "a slide show": Real(
        lambda: samples.replace_part(
            samples.make_slides("Plan"),
            "[Content_Types].xml",
            samples.read_part(samples.make_slides("Plan"), "[Content_Types].xml").replace(
                b"presentationml.presentation.main+xml", b"presentationml.slideshow.main+xml"
            ),
        ),
        "[slide 1]\nPlan\n",
        "slides",
    ),
}


def sheet(*rows: str, text: str, **parts: str) -> Real:
    return Real(lambda: samples.make_workbook("".join(rows), **parts), f"[sheet S]\n{text}", "sheet")


row = samples.make_row
DATES = "".join(f'<xf numFmtId="{id}"/>' for id in (0, 14, 164, 22, 46, 165))
CODES = (
    '<numFmt numFmtId="164" formatCode="yyyy&quot;年&quot;m&quot;月&quot;"/>'
    '<numFmt numFmtId="165" formatCode="[Red]0.00E+00&quot;day&quot;"/>'
)
SHEETS = {
    "entries for folders": Real(
        lambda: samples.rename_parts(
            samples.make_sheet(("tea", 3.5)), lambda name: name, ("_rels/", "docProps/", "xl/")
        ),
        "[sheet Prices]\ntea | 3.5",
        "sheet",
    ),
    "backslashes in the names": Real(
        lambda: samples.rename_parts(samples.make_sheet(("tea", 3.5)), lambda name: name.replace("/", "\\")),
        "[sheet Prices]\ntea | 3.5",
        "sheet",
    ),
    "a cell in the last row": Real(
        lambda: samples.make_workbook(
            row(1, 'r="A1"><v>1</v>', 'r="B1"><v>2</v>')
            + row(2, 'r="A2"><v>3</v>', 'r="B2"><v>4</v>')
            + row(1_048_576, 'r="A1048576"><v>5</v>')
        ),
        "[sheet S]\n1 | 2\n3 | 4\n5",
        "sheet",
    ),
    "a cell in the far corner": Real(
        lambda: samples.make_sheet(("item", "price"), ("tea", 3), far_cell=True),
        "[sheet Prices]\nitem | price\ntea | 3\n[column XFD] far",
        "sheet",
    ),
    "a formula without a value, an error": sheet(
        row(1, 'r="A1"><v>7</v>', 'r="B1"><f>A1*2</f>', 'r="C1" t="e"><f>A1/0</f><v>#DIV/0!</v>'),
        row(2, 'r="B2"><f>A2*2</f><v></v>', 'r="C2" t="str"><f>T(A9)</f><v></v>', 'r="D2"><f>A1+1</f><v>8</v>'),
        text="7 | =A1*2 [not calculated] | #DIV/0!\n | =A2*2 [not calculated] |  | 8",
    ),
    "formulas that are calculated when it is opened": sheet(
        row(1, 'r="A1"><f>SUM(A2:A3)</f><v>0</v>', 'r="B1"><v>0</v>', 'r="C1"><f>B1</f><v>5</v>'),
        calculation='<calcPr fullCalcOnLoad="1"/>',
        text="=SUM(A2:A3) [not calculated] | 0 | 5",
    ),
    "whole numbers": sheet(
        row(1, 'r="A1"><v>7</v>', 'r="B1"><v>13800138000</v>', 'r="C1"><v>2024.0</v>', 'r="D1"><v>1.3800138E10</v>'),
        row(2, 'r="A2"><v>0.30000000000000004</v>', 'r="B2"><v>-3</v>', 'r="C2" t="b"><v>1</v>'),
        text="7 | 13800138000 | 2024 | 13800138000\n0.3 | -3 | TRUE",
    ),
    "dates and times": sheet(
        row(1, 'r="A1" s="1"><v>45356</v>', 'r="B1" s="2"><v>45356</v>', 'r="C1" s="3"><v>45356.604166666664</v>'),
        row(2, 'r="A2" s="4"><v>1.25</v>', 'r="B2" s="3"><v>0.5</v>', 'r="C2" s="5"><v>45356</v>', 's="1"><v>1</v>'),
        styles=DATES,
        formats=CODES,
        text="2024-03-05 | 2024-03-05 | 2024-03-05 14:30:00\n30:00:00 | 12:00:00 | 45356 | 1900-01-01",
    ),
    "rich text without its readings": sheet(
        row(1, 't="s"><v>0</v>', 't="inlineStr"><is><t>in_x000D_line</t></is>', 't="s"><v>9</v>'),
        strings="<si><r><t>東</t></r><r><t>京</t></r><rPh><t>トウキョウ</t></rPh></si>",
        text="東京 | in\rline",
    ),
    "broken styles": Real(
        lambda: samples.replace_part(samples.make_sheet(("tea", 3)), "xl/styles.xml", b"<styleSheet"),
        "[sheet Prices]\ntea | 3",
        "sheet",
    ),
    "XLS": Real(
        lambda: samples.make_old_sheet(("品名", "price"), ("茶", 3.0), ("half", 0.5)),
        "[sheet Prices]\n品名 | price\n茶 | 3\nhalf | 0.5",
        "sheet",
    ),
    "XLS with a far cell": Real(
        lambda: samples.make_old_sheet(("tea", 3.0), far_cell=True),
        "[sheet Prices]\ntea | 3\n[column IV] 5",
        "sheet",
    ),
    "ODS that was packed again": Real(
        lambda: samples.rename_parts(samples.make_open_sheet(("tea", 3)), lambda name: name),
        "[sheet Prices]\ntea | 3",
        "sheet",
    ),
    "ODS": Real(
        lambda: samples.make_open_sheet(("品名", "price"), ("茶", 3)), "[sheet Prices]\n品名 | price\n茶 | 3", "sheet"
    ),
}

PDFS = {
    "behind two empty lines": Real(lambda: b"\r\n\r\n" + samples.make_pdf("hi"), "[page 1]\nhi", "pdf"),
    "behind the lines of a printer": Real(
        lambda: b"\x1b%-12345X@PJL JOB\r\n" + samples.make_pdf("hi"), "[page 1]\nhi", "pdf"
    ),
    "one scanned page of two": Real(
        lambda: samples.make_pdf("hi", ""), "[page 1]\nhi\n[page 2: no text, probably scanned]", "pdf"
    ),
}

REAL = {
    f"{group}: {name}": real
    for group, cases in {"text": TEXTS, "docx": DOCUMENTS, "pptx": SLIDES, "sheet": SHEETS, "pdf": PDFS}.items()
    for name, real in cases.items()
}


@pytest.mark.parametrize("case", REAL)
def test_a_file_of_a_real_program_is_read(case):
    real = REAL[case]
    content = real.make()
    identified = identify_content(BytesIO(content), real.name)
    assert (identified.kind, identified.no_text_reason) == (real.kind, None)
    found = read_file(identified.kind, content)
    assert found["text"] == real.text
    assert found.get("encoding", "") == real.encoding


def make_photo(width: int, height: int, mode: str = "RGB") -> bytes:
    out = BytesIO()
    Image.new(mode, (width, height), "teal" if mode == "RGB" else 90).save(out, "JPEG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("make", "size", "thumbnail_size"),
    [
        (lambda: make_photo(8064, 6048), (8064, 6048), (1024, 768)),
        (lambda: make_photo(16_320, 12_240, "L"), (16_320, 12_240), (1024, 768)),
        (lambda: samples.HEIC, (96, 64), (96, 64)),
    ],
    ids=["48 megapixels", "200 megapixels", "HEIC"],
)
def test_a_photo_of_a_phone_has_a_thumbnail(make, size, thumbnail_size):
    content = make()
    assert identify_content(BytesIO(content), "a").kind == "image"
    found = read_in_process("image", content)
    assert (found["width"], found["height"]) == size
    with Image.open(BytesIO(found["thumbnail"])) as thumbnail:
        assert (thumbnail.format, thumbnail.size) == ("WEBP", thumbnail_size)
        assert thumbnail.convert("RGB").getpixel((10, 10)) == pytest.approx(
            (90, 90, 90) if size[0] == 16_320 else (0, 128, 128), abs=3
        )


@pytest.mark.parametrize(
    ("make", "kind", "reason"),
    [
        (samples.make_pdf_with_password, "pdf", "password"),
        (lambda: samples.make_old_sheet(("a",), password=True), "sheet", "password"),
        (lambda: samples.make_pdf("hi")[:60] + b"\x80", "pdf", "damaged"),
        (lambda: samples.make_document("hi")[:-30] + bytes(30), "document", "damaged"),
        (samples.make_zip_bomb, "document", "too_large"),
        (lambda: make_photo(65_000, 5_000, "L"), "image", "too_large"),
        (samples.make_huge_image, "image", "too_large"),
        (samples.make_huge_heic, "image", "too_large"),
    ],
    ids=["pdf", "xls", "cut pdf", "cut docx", "zip bomb", "325 megapixels", "2,500 megapixels", "HEIC that lies"],
)
def test_a_file_that_is_not_read_has_one_true_reason(make, kind, reason):
    with pytest.raises(UnreadableFile) as refused:
        read_in_process(kind, make())
    assert refused.value.reason == reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (samples.make_ole_file("EncryptedPackage", b"secret"), "password"),
        (samples.make_ole_file("WordDocument", b"old"), "format"),
        (b"{\\rtf1\\ansi hello}", "format"),
        (b"\x7fELF" + bytes(range(32)) * 9, "format"),
    ],
    ids=["office file with a password", "doc", "rtf", "program"],
)
def test_a_file_of_another_format_says_so(content, reason):
    assert identify_content(BytesIO(content), "a") == ("other", "application/octet-stream", reason)


def test_a_scanned_pdf_says_that_it_has_no_text():
    found = read_file("pdf", samples.make_pdf("", "", ""))
    assert found == {"text": "", "pages": 3, "no_text_reason": "scanned"}
