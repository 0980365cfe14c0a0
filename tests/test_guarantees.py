"""docs/guarantees.md and the names of tests tell of the same ids."""

import re

from launcher.home import ROOT

PAGE = (ROOT / "docs" / "guarantees.md").read_text()
NAME = re.compile(r"def test_((?:[A-F]\d+_)+)")


def ids_in_tests() -> set[str]:
    texts = (path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    return {id for text in texts for found in NAME.findall(text) for id in found.strip("_").split("_")}


def test_every_guarantee_has_a_test_and_every_id_a_guarantee():
    assert set(re.findall(r"^\| ([A-F]\d+) \|", PAGE, re.MULTILINE)) == ids_in_tests()


def test_every_file_that_is_named_is_there():
    missing = [name for name in re.findall(r"`([a-z_/]+\.py)`", PAGE) if not (ROOT / "tests" / name).exists()]
    assert [name for name in missing if not (ROOT / name).exists()] == []
