"""The pages of docs/ name files, functions and links that exist."""

import re
import subprocess
from pathlib import Path

import pytest

from launcher.home import ROOT

TRACKED = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split()
PAGES = [name for name in TRACKED if re.fullmatch(r"README\.md|docs/.*\.md", name)]
SOURCE = r"`((?:[\w.-]+/)*[\w-]+\.(?:py|tsx?|css))`"
# Files that a reader writes, and a pattern of names.
EXAMPLES = {"Name.tsx", "Name.ctest.tsx"}


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_exists(page):
    text = (ROOT / page).read_text()
    named = set(re.findall(SOURCE, text)) - EXAMPLES
    assert [name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in TRACKED)] == []
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []


@pytest.mark.parametrize("page", ["walk-a-message.md", "glossary.md"])
def test_every_name_beside_a_file_is_declared_in_it(page):
    declarations = re.findall(rf"{SOURCE} `(\w+)`", (ROOT / "docs" / page).read_text())
    assert len(declarations) > 20
    missing = [
        (file, name)
        for file, name in declarations
        if not re.search(rf"\b(?:def|class|function|const) {name}\b|^ +{name} = ", Path(ROOT, file).read_text(), re.M)
    ]
    assert missing == []


def test_every_term_of_the_glossary_has_a_declaration():
    rows = re.findall(r"^\| (?!term|-)(.+) \|$", (ROOT / "docs" / "glossary.md").read_text(), re.M)
    assert len(rows) > 25
    assert [row for row in rows if not re.search(rf"\| {SOURCE} `\w+`$", row)] == []
