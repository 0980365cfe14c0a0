"""docs/guarantees.md and the ids in code, tests and pages agree."""

import re
import subprocess

from launcher.home import ROOT

PAGE = (ROOT / "docs" / "guarantees.md").read_text()
ID = r"(?:MSG|RUN|EDIT|SEC|FAIR|MEM)\d+"
NAME = re.compile(rf"def test_((?:{ID}_)+)")
OF_OTHER_DOCUMENTS = re.compile(r"\bS\d\.\d+\b|\bADR-\d|(?<!RFC 9562 )§")


def ids_in_tests() -> set[str]:
    texts = (path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    return {id for text in texts for found in NAME.findall(text) for id in found.strip("_").split("_")}


def test_every_guarantee_has_a_test_and_every_id_a_guarantee():
    assert set(re.findall(rf"^\| ({ID}) \|", PAGE, re.MULTILINE)) == ids_in_tests()


def test_an_id_anywhere_in_the_repository_can_be_looked_up():
    files = subprocess.check_output(
        ["git", "ls-files", "*.py", "*.ts", "*.tsx", "*.md", "Makefile"], cwd=ROOT, text=True
    )
    guarantees = set(re.findall(rf"^\| ({ID}) \|", PAGE, re.MULTILINE))
    measurements = set(re.findall(r"^## (P\d+)", (ROOT / "bench" / "RESULTS.md").read_text(), re.MULTILINE))
    unknown = []
    for name in files.split():
        text = (ROOT / name).read_text() if (ROOT / name).exists() and "test_guarantees" not in name else ""
        ids = set(re.findall(rf"\b{ID}\b", text)) - guarantees
        ids |= set(re.findall(r"(?<=[(\s])P\d+(?=[),])", text)) - measurements
        unknown += [(name, id) for id in [*ids, *OF_OTHER_DOCUMENTS.findall(text)]]
    assert unknown == []


def test_every_file_that_is_named_is_there():
    missing = [name for name in re.findall(r"`([a-z_/]+\.py)`", PAGE) if not (ROOT / "tests" / name).exists()]
    assert [name for name in missing if not (ROOT / name).exists()] == []
