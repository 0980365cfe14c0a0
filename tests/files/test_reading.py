"""What is read of a file, and that no file keeps its reader busy or fills the memory."""

import time
from io import BytesIO

import pytest
from PIL import Image

from files.reading.process import UnreadableFile, read_in_process
from files.reading.reader import MAX_CHARACTERS, _join
from tests.files import samples


def test_the_text_of_a_pdf_is_read_by_page():
    found = read_in_process("pdf", samples.make_pdf("Invoice 17", "Total 80"))
    assert found["text"] == "[page 1]\nInvoice 17\n[page 2]\nTotal 80"
    assert found["pages"] == 2


def test_the_text_of_office_files_is_read():
    document = read_in_process("document", samples.make_document("第一段 🌍", "Second"))
    assert document["text"] == "第一段 🌍\nSecond\nleft | right"
    slides = read_in_process("slides", samples.make_slides("Plan", "End"))
    assert (slides["text"], slides["pages"]) == ("[slide 1]\nPlan\n\n[slide 2]\nEnd\n", 2)
    sheet = read_in_process("sheet", samples.make_sheet(("item", "price"), ("tea", 3.5)))
    assert sheet["text"] == "[sheet Prices]\nitem | price\ntea | 3.5"


def test_texts_are_decoded():
    assert read_in_process("text", "\ufeffhé 世界".encode())["text"] == "hé 世界"
    assert read_in_process("text", "世界".encode("utf-16"))["text"] == "世界"


def test_a_long_text_is_cut():
    found = read_in_process("text", b"a" * 1_000_001)
    assert (len(found["text"]), found["is_cut"]) == (1_000_000, True)


@pytest.mark.parametrize("first", [MAX_CHARACTERS - 1, MAX_CHARACTERS, MAX_CHARACTERS + 1])
@pytest.mark.parametrize("more", ["", "b", "b" * MAX_CHARACTERS])
def test_a_text_of_several_parts_is_cut(first, more):
    text, is_cut = _join(iter(["a" * first, more, more]))
    assert text == ("a" * first + f"\n{more}\n{more}")[:MAX_CHARACTERS]
    assert is_cut


def test_an_image_gets_a_thumbnail_without_metadata():
    found = read_in_process("image", samples.make_photo_on_its_side())
    assert (found["width"], found["height"]) == (600, 900)
    thumbnail = Image.open(BytesIO(found["thumbnail"]))
    assert (thumbnail.format, thumbnail.size) == ("WEBP", (600, 900))
    assert not thumbnail.getexif()


@pytest.mark.parametrize(("level", "shade"), [(0, 0), (20_000, 78), (65_535, 255)])
@pytest.mark.parametrize("transparency", [None, 78, 20_000])
def test_the_thumbnail_of_a_gray_image_of_16_bits_has_its_shade(level, shade, transparency):
    found = read_in_process("image", samples.make_gray_image(level, transparency))
    assert (found["width"], found["height"]) == (1500, 100)
    thumbnail = Image.open(BytesIO(found["thumbnail"]))
    assert thumbnail.mode == "RGB"
    assert thumbnail.getpixel((10, 10)) == pytest.approx((shade,) * 3, abs=1)


@pytest.mark.parametrize(
    ("orientation", "size"), [(0, (900, 600)), (4, (900, 600)), (5, (600, 900)), (8, (600, 900)), (9, (900, 600))]
)
def test_the_size_of_a_photo_is_that_of_the_picture_that_is_shown(orientation, size):
    found = read_in_process("image", samples.make_photo_on_its_side(orientation))
    assert (found["width"], found["height"]) == size
    assert Image.open(BytesIO(found["thumbnail"])).size == size


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("pdf", lambda: samples.make_pdf_bomb(64 * 1024**2)[:-200]),
        ("pdf", lambda: b"%PDF-1.4 nothing"),
        ("document", samples.make_zip_bomb),
        ("document", lambda: b"PK\x03\x04 nothing"),
        ("image", lambda: samples.make_huge_image(30_000)),
        ("image", lambda: samples.make_image()[:60]),
        ("image", lambda: samples.SVG),
    ],
    ids=["cut pdf", "no pdf", "zip bomb", "no zip", "900 megapixels", "cut image", "svg"],
)
def test_SEC23_a_damaged_or_hostile_file_is_refused(kind, make):
    content = make()
    started = time.monotonic()
    with pytest.raises(UnreadableFile):
        read_in_process(kind, content)
    # The process is bounded by its CPU time; this only says that it does not run into its limit.
    assert time.monotonic() - started < 40


def test_SEC23_a_pdf_that_unpacks_to_a_gigabyte_does_not_harm_us():
    """It either has no text, or its process ends; ours goes on."""
    try:
        assert read_in_process("pdf", samples.make_pdf_bomb())["text"] in ("[page 1]\n", "")
    except UnreadableFile:
        pass
