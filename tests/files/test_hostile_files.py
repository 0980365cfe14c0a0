"""Hostile files from the upload to the download: what they are taken for, what is read of them, and how they are served."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from files import services as files
from tests.api.test_rights import client_for
from tests.files import samples

pytestmark = pytest.mark.django_db

LAUGHS = b"<!ENTITY a0 'ha'>" + b"".join(b"<!ENTITY a%d '%s'>" % (n, b"&a%d;" % (n - 1) * 10) for n in range(1, 12))
OUTSIDE = b"<!ENTITY x SYSTEM 'file:///etc/passwd'>"


@dataclass(frozen=True)
class Hostile:
    """A hostile file. `states`: in which it may be after it was read; `text`: what may be read of it at most."""

    name: str
    make: Callable[[], bytes]
    kind: str
    states: tuple[str, ...] = ("failed",)
    text: str = ""


READY, EITHER = ("ready",), ("ready", "failed")
HOSTILE = {
    "svg with a script": Hostile("logo.svg", lambda: samples.SVG, "text", READY, samples.SVG.decode()),
    "page as a picture": Hostile("photo.png", lambda: samples.HTML, "text", READY, samples.HTML.decode()),
    "page with the mark of a picture": Hostile("a.html", lambda: b"GIF89a" + bytes(10) + samples.HTML, "image"),
    "picture with a page behind": Hostile("a.html", lambda: samples.make_image() + samples.HTML, "image", READY),
    "picture with an archive behind": Hostile(
        "a.zip", lambda: samples.make_image(format="JPEG") + samples.make_document("hi"), "image", READY
    ),
    "page before a pdf": Hostile(
        "a.pdf", lambda: samples.HTML + b"\x80" + samples.make_pdf("hi"), "pdf", READY, "[page 1]\nhi"
    ),
    "program as a photo": Hostile("photo.jpg", lambda: b"MZ" + bytes(200), "other", READY),
    "pdf with a script": Hostile("a.pdf", lambda: samples.make_pdf_with_script("hi"), "pdf", READY, "[page 1]\nhi"),
    "pdf of 100 MB": Hostile("a.pdf", lambda: samples.make_large_pdf("hi"), "pdf", READY, "[page 1]\nhi"),
    "pdf that contains itself": Hostile("a.pdf", samples.make_cyclic_pdf, "pdf"),
    "document that lies about its size": Hostile(
        "a.docx", lambda: samples.make_archive_that_lies(samples.make_document("hi"), "word/document.xml"), "document"
    ),
    "slides that lie about their size": Hostile(
        "a.pptx", lambda: samples.make_archive_that_lies(samples.make_slides("hi"), "ppt/slides/slide1.xml"), "slides"
    ),
    "sheet that lies about its size": Hostile(
        "a.xlsx",
        lambda: samples.make_archive_that_lies(samples.make_sheet(("hi",)), "xl/worksheets/sheet1.xml"),
        "sheet",
        EITHER,
        "[sheet Prices]",
    ),
    "deep document": Hostile("a.docx", samples.make_deep_document, "document", EITHER),
    "document with a file of ours": Hostile(
        "a.docx", lambda: samples.make_document_with_entities(OUTSIDE, b"&x;"), "document", EITHER
    ),
    "document with entities of entities": Hostile(
        "a.docx", lambda: samples.make_document_with_entities(LAUGHS, b"&a11;"), "document", EITHER
    ),
    "sheet with a file of ours": Hostile(
        "a.xlsx", lambda: samples.make_sheet_with_entities(OUTSIDE, b"&x;"), "sheet", EITHER, "[sheet Prices]"
    ),
    "sheet with entities of entities": Hostile(
        "a.xlsx", lambda: samples.make_sheet_with_entities(LAUGHS, b"&a11;"), "sheet", EITHER, "[sheet Prices]"
    ),
    "sheet with a million sheets in its archive": Hostile("a.xlsx", samples.make_archive_of_many_names, "other", READY),
    "sheet with a row that never ends": Hostile("a.xlsx", samples.make_sheet_without_end, "sheet", EITHER),
    "sheet with a column that no sheet has": Hostile(
        "a.xlsx",
        lambda: samples.make_workbook(samples.make_row(1, f'r="{"Z" * 300_000}1"><v>7</v>')),
        "sheet",
        READY,
        "[sheet S]\n7",
    ),
    "sheet with a format that never ends": Hostile(
        "a.xlsx",
        lambda: samples.make_workbook(
            samples.make_row(1, 's="0"><v>7</v>'),
            formats=f'<numFmt numFmtId="170" formatCode="{"[" * 200_000}"/>',
            styles='<xf numFmtId="170"/>',
        ),
        "sheet",
        READY,
        "[sheet S]\n7",
    ),
    "sheet with texts that it does not have": Hostile(
        "a.xlsx",
        lambda: samples.make_workbook(
            samples.make_row(1, *(f't="s"><v>{number}</v>' for number in ("-1", "x", "1", "0"))),
            strings="<si><t>a</t></si>",
        ),
        "sheet",
        READY,
        "[sheet S]\n |  |  | a",
    ),
    "old sheet of a few bytes": Hostile("a.xls", lambda: samples.make_old_sheet(("a",))[:40], "other", READY),
    "old sheet with a broken table of sectors": Hostile(
        "a.xls", samples.make_cyclic_old_sheet, "sheet", EITHER, "[sheet Prices]\na"
    ),
    "old sheet that begins beyond its end": Hostile("a.xls", samples.make_old_sheet_beyond_its_end, "other", READY),
    "open sheet with a cell that is repeated": Hostile(
        "a.ods", samples.make_repeated_open_sheet, "sheet", EITHER, "[sheet Prices]"
    ),
    "HEIC that says it has 3,600 megapixels": Hostile("a.heic", samples.make_huge_heic, "image"),
    "HEIC with another picture": Hostile("a.heic", lambda: samples.HEIC[:-23] + bytes(range(23)), "image", EITHER),
    "table in half of an encoding": Hostile(
        "a.csv", lambda: "姓名".encode("gbk") * 5000 + b"\x81", "text", READY, "姓名" * 5000 + "\ufffd"
    ),
    "picture of 50,000 × 50,000 pixels": Hostile("a.png", samples.make_huge_image, "image"),
    "picture with a comment of ten gigabytes": Hostile("a.png", samples.make_image_with_text_bomb, "image", EITHER),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_SEC22_SEC23_a_hostile_file_is_neither_executed_nor_unpacked(team, upload, settings, case):
    hostile = HOSTILE[case]
    content = hostile.make()
    settings.MAX_FILE_BYTES = max(settings.MAX_FILE_BYTES, len(content))
    file = upload(content, hostile.name)
    assert file.kind == hostile.kind
    files.post_file(team.bob, file.id, wake="nobody")
    files.read_contents(file.id)
    file.refresh_from_db()
    assert file.state in hostile.states, file.text
    assert file.text == (hostile.text if file.state == "ready" else "")
    if file.thumbnail:
        with file.thumbnail.open() as thumbnail:
            seen = thumbnail.read()
        assert seen[8:12] == b"WEBP"
        assert samples.HTML not in seen
    response = client_for(team, "alice")("GET", f"files/{file.id}/content")
    assert response["Content-Disposition"].startswith("attachment;")
    assert response["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Type"].partition(";")[0] not in ("text/html", "image/svg+xml", "text/javascript")
