"""Names that look alike."""

import unicodedata

import pytest
from django.core.management import call_command

from common import look_alikes
from common.look_alikes import build_look_alike_forms


def look_alike(first, second):
    return bool(build_look_alike_forms(first) & build_look_alike_forms(second))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Chef", "Ch\u0435f"),  # a Cyrillic е
        ("Chef", "\u0421\u041d\u0415F"),  # three Cyrillic capitals
        ("Chef", "\u13df\u04bb\u0435f"),  # a Cherokee capital, two Cyrillic letters
        ("Chef", "\U0001d402\U0001d421\U0001d41e\U0001d41f"),  # mathematical bold
        ("Chef", "Ｃｈｅｆ"),
        ("Chef", "CHEF"),
        ("Chef", "Ch\u200bef"),
        ("Chef", "Chef."),
        ("Chef", "Chef 。"),
        ("Chef", "Chef!?…"),
        ("Chef", ".Chef"),
        ("Chef", "\u00b7Chef"),  # a middle dot
        ("Chef", "-Chef"),
        ("Chef", "#Chef"),
        ("Chef", "Chef\u00b4"),  # an acute accent that stands alone
        ("Chef", "Chef\u02d9"),  # a dot above that stands alone
        ("Chef", "Chef~"),
        ("Chef", "Chef\u0323"),  # a dot below the last letter
        ("Chef", "Chef\ua4f8"),  # a Lisu letter that looks like a full stop
        ("Chel", "Che1"),
        ("Chel", "CheI"),
        ("Chel", "Che\uff11"),
        ("Pool", "P00l"),
        ("Modern", "Modem"),
        ("HI", "H\u0456"),  # a Cyrillic і
        ("翻譯", "翻譯。"),
        ("口", "ロ"),  # a Katakana letter
    ],
    ids=ascii,
)
def test_names_that_look_alike_have_a_form_in_common(name, other):
    assert look_alike(name, other)
    assert look_alike(other, name)


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Chef", "Chief"),
        ("Chef", "Chéf"),
        ("Chef", "Chef 2"),
        ("Chei", "Chel"),
        ("C", "C#"),
        ("!!!", "???"),
        ("~~~", "..."),
        ("C", "C&"),
        ("Cafe", "Café"),
        ("か", "が"),
        ("ด", "ดี"),  # Thai: the vowel is a mark
        ("翻譯", "翻译"),
        ("未來", "末來"),
        ("日記", "曰記"),
        ("一號", "二號"),
        ("大廚", "太廚"),
        ("廚師", "廚獅"),
        ("千里", "干里"),
        ("❤️", "☀️"),
    ],
    ids=ascii,
)
def test_names_that_differ_visibly_have_none(name, other):
    assert not look_alike(name, other)


def test_the_table_has_only_characters_that_are_not_replaced_before():
    table = look_alikes._read_table()
    assert len(table) > 2_000
    assert all(unicodedata.normalize("NFKD", chr(code)) == chr(code) for code in table)
    assert (table[0x0435], table[ord("1")], table[ord("m")]) == ("e", "l", "rn")


def test_the_command_writes_the_table_of_a_newer_release(tmp_path, monkeypatch):
    target = tmp_path / "look_alikes.txt"
    target.write_text("# The notice.\n0000: 0001\n")
    monkeypatch.setattr("common.management.commands.look_alikes.TABLE", target)
    confusables = tmp_path / "confusables.txt"
    lines = ["# confusables.txt", "0435 ;\t0065 ;\tMA\t# е", "FF41 ;\t0061 ;\tMA\t# ａ", "006D ;\t0072 006E ;\tMA\t# m"]
    confusables.write_text("\n".join(["\ufeff" + lines[0], *lines[1:]]), encoding="utf-8")
    call_command("look_alikes", confusables)
    assert target.read_text() == "# The notice.\n0065: 0435\n0072 006E: 006D\n"
