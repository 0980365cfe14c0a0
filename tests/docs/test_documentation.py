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


def test_every_function_on_the_way_of_a_message_is_in_its_file():
    stations = re.findall(rf"{SOURCE} `(\w+)`", (ROOT / "docs" / "walk-a-message.md").read_text())
    assert len(stations) > 20
    missing = [
        (file, name)
        for file, name in stations
        if not re.search(rf"\b(?:def|class|function|const) {name}\b", Path(ROOT, file).read_text())
    ]
    assert missing == []
