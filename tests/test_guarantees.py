"""docs/guarantees.md and the ids in code, tests and pages agree."""

import re
import subprocess

from launcher.home import ROOT

PAGE = (ROOT / "docs" / "guarantees.md").read_text()
# The promise, and the column "tests in".
ROWS = {found[1]: found[3] for found in re.finditer(r"^\| ([A-Z]+\d+) \|([^|]*)\|([^|]*)\|", PAGE, re.MULTILINE)}
MEASUREMENTS = set(re.findall(r"^## (P\d+)", (ROOT / "bench" / "RESULTS.md").read_text(), re.MULTILINE))
NAME = re.compile(r"def test_((?:[A-Z]+\d+_)+)")
OF_OTHER_DOCUMENTS = re.compile(r"\bS\d\.\d+\b|\bADR-\d|(?<!RFC 9562 )§")


def find_files_of_ids() -> dict[str, set[str]]:
    """Return the files with tests of each id in the name of a test."""
    files: dict[str, set[str]] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        for found in NAME.findall(path.read_text()):
            for id in found.strip("_").split("_"):
                files.setdefault(id, set()).add(str(path.relative_to(ROOT / "tests")))
    return files


def test_every_guarantee_has_a_test_and_every_id_a_guarantee():
    assert set(ROWS) == set(find_files_of_ids()) - MEASUREMENTS


def test_the_page_names_every_file_with_tests_of_a_guarantee():
    files = {id: names for id, names in find_files_of_ids().items() if id in ROWS}
    left_out = {id: sorted(name for name in names if f"`{name}`" not in ROWS[id]) for id, names in files.items()}
    assert {id: names for id, names in left_out.items() if names} == {}


def test_an_id_anywhere_in_the_repository_can_be_looked_up():
    files = subprocess.check_output(
        ["git", "ls-files", "*.py", "*.ts", "*.tsx", "*.md", "Makefile"], cwd=ROOT, text=True
    )
    # An id is known by its letters, which a row or the name of a test has.
    families = {id.rstrip("0123456789") for id in {*ROWS, *find_files_of_ids()}} - {"P"}
    of_a_guarantee = re.compile(rf"\b(?:{'|'.join(sorted(families))})\d+\b")
    unknown = []
    for name in files.split():
        text = (ROOT / name).read_text() if (ROOT / name).exists() and "test_guarantees" not in name else ""
        ids = set(of_a_guarantee.findall(text)) - set(ROWS)
        ids |= set(re.findall(r"(?<=[(\s])P\d+(?=[),])", text)) - MEASUREMENTS
        unknown += [(name, id) for id in [*ids, *OF_OTHER_DOCUMENTS.findall(text)]]
    assert unknown == []


def test_every_file_that_is_named_is_there():
    missing = [name for name in re.findall(r"`([a-z_/]+\.py)`", PAGE) if not (ROOT / "tests" / name).exists()]
    assert [name for name in missing if not (ROOT / name).exists()] == []
