"""Collect the texts of the admin for translation, with Babel, because `makemessages` needs GNU gettext, which few machines have.

The texts are those of our apps and of the admin's theme (django-unfold), which has no Chinese translation.
`launcher/bootstrap.py` and the image build compile the catalogues by `pybabel compile`.
"""

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir, extract_python
from babel.messages.pofile import read_po, write_po
from django.apps import apps
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import to_locale
from django.utils.translation.template import templatize

KEYWORDS = {
    **DEFAULT_KEYWORDS,
    "gettext_lazy": None,
    "gettext_noop": None,
    "pgettext_lazy": ((1, "c"), 2),
}
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}")


class Command(BaseCommand):
    help = "Collect the texts of the admin into locale/*/LC_MESSAGES/django.po; with --check, report what is missing there."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        collected = collect_texts()
        problems = []
        for code, _name in settings.LANGUAGES:
            if code == settings.LANGUAGE_CODE:
                continue
            locale = to_locale(code)
            path = Path(settings.LOCALE_PATHS[0]) / locale / "LC_MESSAGES" / "django.po"
            if not check:
                update_catalog(path, locale, collected)
            problems += [f"{locale}: {problem}" for problem in find_problems(path, locale, collected)]
        # Also after the catalogues are written: new texts are not translated yet.
        if problems:
            advice = "Run `manage.py texts` and translate what is empty in locale/*/LC_MESSAGES/django.po."
            raise CommandError("\n".join([*problems, advice]))


def collect_texts() -> Catalog:
    """Return all texts of the admin with the files that contain them."""
    collected = Catalog()
    configs = [config for config in apps.get_app_configs() if Path(config.path).parent == settings.ROOT]
    for config in [*configs, apps.get_app_config("unfold")]:
        found = extract_from_dir(
            config.path,
            method_map=[("**/templates/**.html", extract_template), ("**.py", "python")],  # type: ignore[list-item]
            keywords=KEYWORDS,
            directory_filter=lambda folder: Path(folder).name not in ("contrib", "migrations"),
        )
        for file, line, message, _comments, context in sorted(found, key=str):
            collected.add(message, locations=[(f"{config.label}/{file}", line)], context=context)
    return collected


def extract_template(file: BinaryIO, keywords: Any, comment_tags: Any, options: Any) -> Any:
    """Extract the texts of a Django template: an extraction method for Babel."""
    # The indentation of the template would be an error in Python.
    lines = [line.strip() for line in templatize(file.read().decode()).splitlines()]
    return extract_python(io.BytesIO("\n".join(lines).encode()), keywords, comment_tags, options)


def update_catalog(path: Path, locale: str, collected: Catalog) -> None:
    """Add the collected texts to the catalogue, with empty translations, and remove those that are no longer used."""
    catalog = read_catalog(path, locale)
    catalog.update(collected, no_fuzzy_matching=True, update_creation_date=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalog, width=120, include_lineno=False, ignore_obsolete=True, sort_by_file=True)


def find_problems(path: Path, locale: str, collected: Catalog) -> Iterator[str]:
    """Describe what is missing, unused, untranslated, or translated with other placeholders."""
    catalog = read_catalog(path, locale)
    used = {(message.id, message.context) for message in collected if message.id}
    known = {(message.id, message.context): message for message in catalog if message.id}
    yield from (f"not collected: {text!r}" for text, _context in used - known.keys())
    yield from (f"not used any more: {text!r}" for text, _context in known.keys() - used)
    for (text, _context), message in known.items():
        translations = [message.string] if isinstance(message.string, str) else list(message.string or [])
        if not (translations and all(translations)) or message.fuzzy:
            yield f"not translated: {text!r}"
            continue
        # A singular form may omit the number, so each translation is compared with the last (plural) form of the original.
        original = text if isinstance(text, str) else text[-1]
        if any(sorted(PLACEHOLDER.findall(one)) != sorted(PLACEHOLDER.findall(original)) for one in translations):
            yield f"other placeholders in the translation of {text!r}"


def read_catalog(path: Path, locale: str) -> Catalog:
    """Return the catalogue of a file; an empty one if the file does not exist yet."""
    if not path.exists():
        return Catalog(locale, project="Atelier", version="1", fuzzy=False)
    with path.open("rb") as file:
        return read_po(file, locale=locale)
