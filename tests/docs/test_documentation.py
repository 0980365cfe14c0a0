"""The pages of docs/ name files, functions and links that exist."""

import re
import subprocess
import tomllib
from fnmatch import fnmatch
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from common.errors import Code
from config.hooks import LISTENERS
from launcher.home import ROOT

TRACKED = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True).split()
PAGES = [name for name in TRACKED if re.fullmatch(r"README\.md|docs/.*\.md", name)]
SOURCE = r"`((?:[\w.-]+/)*[\w-]+\.(?:py|tsx?|css))`"
OTHER_FILE = r"(?:[\w.-]+/)*[\w-]+\.(?:html|json|lock|md|po|sh|toml|txt|ya?ml)"
FOLDER = r"(?:[\w.-]+/)+"
# Names on the pages that are not names of this repository.
EXCEPTIONS = {
    # Files that a reader or a command writes, and a pattern of names.
    *(
        "Name.tsx",
        "Name.ctest.tsx",
        "secrets.json",
        ".make/",
        "var/",
        "dist/",
        "landing.html",
        "postgres-18/",
        "valkey/",
    ),
    # Names of other programs and libraries, and one that a build writes.
    *(
        "uv.lock",
        "ModelSerializer",
        "Overlay",
        "ScrollArea",
        "Button_btn",
        "ProcessPoolExecutor",
        "max_prepared_statements",
    ),
    *("Secure", "remote_addr", "realip", "pg_dump", "terminationGracePeriodSeconds", "COMMIT", "LPUSH", "outDir"),
    # The names of Docker volumes, and a pattern of file names.
    *("atelier_postgres", "atelier_valkey", "atelier_files", "test_draft"),
}


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_exists(page):
    text = (ROOT / page).read_text()
    named = set(re.findall(rf"{SOURCE}|`({OTHER_FILE}|{FOLDER})`", text))
    names = {source or other for source, other in named} - EXCEPTIONS
    assert [name for name in names if not any(f"/{name}" in f"/{path}" for path in TRACKED)] == []
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if "://" not in link]
    assert [link for link in links if not (ROOT / page).parent.joinpath(link).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_identifier_that_a_page_names_is_in_the_code(page):
    assert [name for name in _list_identifiers(page) if name not in EXCEPTIONS and not _is_known(name)] == []


def _list_identifiers(page: str) -> list[str]:
    """Return the identifiers in the inline code of a page, without its blocks of code.

    A span that is one name, a path of names or a call is checked as a whole; of any other span only the words that have an
    underscore or a capital letter inside them.
    """
    text = re.sub(r"^```.*?^```", "", (ROOT / page).read_text(), flags=re.M | re.S)
    names: list[str] = []
    for span in re.findall(r"`([^`\n]+)`", text):
        if re.fullmatch(rf"{SOURCE[1:-1]}|{OTHER_FILE}|{FOLDER}", span):
            continue
        if name := re.fullmatch(r"([A-Za-z_][\w.]*)(?:\(.*\)|=.*)?", span):
            names += filter(None, name[1].split("."))
        else:
            names += (word for word in re.findall(r"[A-Za-z]\w*", span) if "_" in word or re.search("[a-z][A-Z]", word))
    return names


def _is_known(name: str) -> bool:
    """Return whether the code has this name. `test_RUN6_` stands for all names that begin so."""
    words = _list_words_of_code()
    # Settings whose names are built, and those that are read from a file.
    built = re.sub("^ATELIER_(QUOTA|RATE)_", "", name).removesuffix("_FILE")
    return name in words or built in words or (name.endswith("_") and any(word.startswith(name) for word in words))


@cache
def _list_words_of_code() -> set[str]:
    """Return the words of all tracked files that are not documentation, and of their paths."""
    words = {word for path in TRACKED for word in re.split(r"[/.]", path)}
    for path in TRACKED:
        file = ROOT / path
        if file.suffix in {".md", ".po", ".lock", ".png", ".gz"} or file == Path(__file__) or not file.is_file():
            continue
        try:
            words.update(re.findall(r"\w+", file.read_text()))
        except UnicodeDecodeError:
            continue
    return words


@pytest.mark.parametrize("page", PAGES)
def test_every_name_beside_a_file_is_in_it(page):
    text = (ROOT / page).read_text()
    pairs = re.findall(rf"{SOURCE} \(?`(\w+)`", text) + [
        (file, name) for name, file in re.findall(rf"`(\w+)` (?:in|\() ?{SOURCE}", text)
    ]
    missing = []
    for file, name in pairs:
        files = [path for path in TRACKED if f"/{path}".endswith(f"/{file}")]
        if not any(re.search(rf"\b{name}\b", (ROOT / path).read_text()) for path in files):
            missing.append((file, name))
    assert missing == []


@pytest.mark.parametrize("page", PAGES)
def test_every_error_code_that_a_page_names_exists(page):
    """The first column of a table of codes, and a name after a status, such as "409 `in_merge`"."""
    text = (ROOT / page).read_text()
    tables = re.findall(r"^\| code \|.*\n((?:\|.*\n)+)", text, re.M)
    cells = " ".join(row.split("|")[1] for table in tables for row in table.splitlines())
    codes = re.findall(r"`(\w+)`", cells) + re.findall(r"\b4\d\d `([a-z_]+)`", text)
    assert [code for code in codes if code not in set(Code)] == []


def test_every_file_in_the_tables_of_new_feature_has_its_whole_path():
    """The first column of a table names files by their paths from the root: `<app>` is any name, `{en,zh-hant}` each of these."""
    text = (ROOT / "docs" / "new-feature.md").read_text()
    cells = [row.split("|")[1] for row in re.findall(r"^\|.*$", text, re.M)]
    paths = [span for cell in cells for span in re.findall(r"`([^` ]*[/.][^` ]*)`", cell)]
    assert len(paths) > 300
    assert [path for path in paths if not all(_is_tracked(one) for one in _expand(path))] == []


def _expand(path: str) -> list[str]:
    """Return the patterns of a path: `<…>` as `*`, and one path for each choice in braces."""
    parts = re.split(r"{([^}]*)}", re.sub("<[^>]*>", "*", path))
    choices = [part.split(",") if index % 2 else [part] for index, part in enumerate(parts)]
    return ["".join(chosen) for chosen in product(*choices)]


def _is_tracked(pattern: str) -> bool:
    return any(fnmatch(path, f"{pattern}*" if pattern.endswith("/") else pattern) for path in TRACKED)


@pytest.mark.parametrize("page", PAGES)
def test_every_link_to_a_heading_leads_to_one(page):
    links = re.findall(r"\]\(([^)#:]*)#([^)]+)\)", (ROOT / page).read_text())
    targets = [((ROOT / page).parent / path if path else ROOT / page, heading) for path, heading in links]
    assert [heading for target, heading in targets if heading not in _list_headings(target)] == []


@cache
def _list_headings(page: Path) -> set[str]:
    """Return the headings of a page as links name them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_kind_of_change_in_new_feature_is_in_its_index():
    text = (ROOT / "docs" / "new-feature.md").read_text()
    kinds = re.findall(r"^### (.+)$", text, re.M)
    index = text.partition("## Steps that recur")[0]
    assert len(kinds) > 40
    assert [
        kind for kind in kinds if f"(#{re.sub(r'[^a-z -]', '', kind.lower()).replace(' ', '-')})" not in index
    ] == []


@pytest.mark.parametrize("page", ["walk-a-message.md", "glossary.md"])
def test_every_name_beside_a_file_is_declared_in_it(page):
    declarations = re.findall(rf"{SOURCE} `(\w+)`", (ROOT / "docs" / page).read_text())
    assert len(declarations) > 20
    missing = [
        (file, name)
        for file, name in declarations
        if not re.search(
            rf"\b(?:def|class|function|const|type) {name}\b|^ *{name}(?:: .+)? = ", Path(ROOT, file).read_text(), re.M
        )
    ]
    assert missing == []


def test_every_term_of_the_glossary_has_a_declaration():
    rows = re.findall(r"^\| (?!term|-)(.+) \|$", (ROOT / "docs" / "glossary.md").read_text(), re.M)
    assert len(rows) > 25
    assert [row for row in rows if not re.search(rf"\| {SOURCE} `\w+`$", row)] == []


def test_the_readme_has_each_folder_of_code_and_links_each_page():
    text = (ROOT / "README.md").read_text()
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
    assert [name for name in packages if f"`{name}/`" not in text] == []
    assert [page for page in PAGES if re.fullmatch(r"docs/[\w-]+\.md", page) and f"({page})" not in text] == []


def test_the_page_of_notifications_has_each_hook_that_notifies():
    text = (ROOT / "docs" / "notifications.md").read_text()
    hooks = [hook for hook, names in LISTENERS.items() if any("listeners.notify_" in name for name in names)]
    assert [hook for hook in hooks if hook not in text] == []
