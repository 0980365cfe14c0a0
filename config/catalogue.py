"""The texts of the admin in each language: found in the sources, kept in `locale/`, compiled, and checked.

Babel stands in for GNU gettext, which Django's own `makemessages` needs. Beside our own texts it takes in those of the theme
(django-unfold), which has no Chinese; what Django itself translates is left to Django.
"""

import gettext
import io
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import django
import unfold
from babel.messages import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.contrib import admin
from django.utils.translation import to_locale
from django.utils.translation.template import templatize

from config.operators.names import names

SOURCES = ("common", "events", "workspaces", "actors", "chats", "agents", "suggestions", "notifications", "config")
KEYWORDS: dict[str, Any] = {
    "_": None, "gettext": None, "gettext_lazy": None, "gettext_noop": None, "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2), "ngettext": (1, 2),
}  # fmt: skip
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w*\}")
Key = tuple[str, str | None]
"""A text in English, and its context."""


def languages() -> list[str]:
    """The locales that the texts are translated into."""
    return [to_locale(code) for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


def path_of(locale: str) -> Path:
    """Where a language's texts lie; beside them the compiled ones, `.mo`."""
    return Path(settings.ROOT) / "locale" / locale / "LC_MESSAGES" / "django.po"


def found() -> dict[Key, str]:
    """Every text that needs a translation, with the file (or the column) that it comes from."""
    texts: dict[Key, str] = {}
    for app in SOURCES:
        texts |= dict(_in_folder(Path(settings.ROOT) / app, Path(settings.ROOT)))
    texts |= {(text, None): where for text, where in names(admin.site)}
    theirs = _of_django()
    theme = Path(unfold.__file__).parent
    for key, where in _in_folder(theme, theme.parent):
        if key[0] not in theirs and "contrib" not in where:
            texts.setdefault(key, where)
    return texts


def _in_folder(folder: Path, root: Path) -> Iterator[tuple[Key, str]]:
    for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.html")]):
        text = path.read_text()
        if path.suffix == ".html":  # Django makes calls of the tags; Babel reads them as Python, which wants no indents
            text = "\n".join(line.strip() for line in templatize(text).splitlines())
        for _line, message, _comments, context in extract("python", io.BytesIO(text.encode()), KEYWORDS):
            yield (message if isinstance(message, str) else message[0], context), str(path.relative_to(root))


def _of_django() -> set[str]:
    """What Django has in all of our languages."""
    root = Path(django.__file__).parent
    return set.intersection(*(
        {text for part in ("conf", "contrib/admin", "contrib/auth")
         for text in _compiled(root / part / "locale" / locale / "LC_MESSAGES" / "django.mo")}
        for locale in languages()
    ))  # fmt: skip


def _compiled(path: Path) -> set[str]:
    with path.open("rb") as file:
        texts: dict[Any, str] = vars(gettext.GNUTranslations(file))["_catalog"]
    return {key if isinstance(key, str) else key[0] for key in texts}


def update(locale: str, texts: dict[Key, str]) -> None:
    """Take new texts in, untranslated; drop those that nobody shows any more; compile the rest."""
    path = path_of(locale)
    kept = _read(path, locale)
    catalogue = _empty(locale)
    for (text, context), where in sorted(texts.items(), key=lambda one: (one[1], one[0][0], one[0][1] or "")):
        old = kept.get(text, context)
        catalogue.add(text, old.string if old else "", locations=[(where, None)], context=context)  # type: ignore[list-item]
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalogue, width=120)
    path.with_suffix(".mo").write_bytes(_machine_code(path, locale))


def problems(locale: str, texts: dict[Key, str]) -> Iterator[str]:
    """What is missing, too much, unsure, differs in its placeholders, or is not compiled. Nothing: all is well."""
    path = path_of(locale)
    catalogue = _read(path, locale)
    known = {(message.id, message.context): message for message in catalogue if message.id}
    yield from (f"{locale}: not taken in: {key[0]!r} ({where})" for key, where in texts.items() if key not in known)
    yield from (f"{locale}: nobody shows {key[0]!r}" for key in known if key not in texts)
    for (text, _context), message in known.items():
        if not message.string or message.fuzzy:
            yield f"{locale}: no translation of {text!r}"
        elif sorted(PLACEHOLDER.findall(str(text))) != sorted(PLACEHOLDER.findall(str(message.string))):
            yield f"{locale}: other placeholders in the translation of {text!r}"
    compiled = path.with_suffix(".mo")
    if not compiled.exists() or compiled.read_bytes() != _machine_code(path, locale):
        yield f"{locale}: not compiled since the last change"


def _empty(locale: str) -> Catalog:
    # The same texts make the same file, whenever it is written.
    epoch = datetime.fromisoformat("2026-01-01T00:00+00:00")
    return Catalog(
        locale, project="Atelier", version="1", creation_date=epoch, revision_date=epoch, fuzzy=False,
        header_comment=f"# Atelier's admin, {locale}.", last_translator="Atelier", language_team="Atelier",
        msgid_bugs_address="README.md",
    )  # fmt: skip


def _read(path: Path, locale: str) -> Catalog:
    if not path.exists():
        return _empty(locale)
    with path.open("rb") as file:
        return read_po(file, locale=locale)


def _machine_code(path: Path, locale: str) -> bytes:
    out = io.BytesIO()
    write_mo(out, _read(path, locale))
    return out.getvalue()
