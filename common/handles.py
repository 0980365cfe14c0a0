"""Handles: the short names that mentions, tools and URLs use."""

import re
import secrets
from typing import Any

from anyascii import anyascii
from django.db import connection
from django.db.models import QuerySet
from django.utils.text import slugify

from common.errors import Code, Conflict, Invalid

HANDLE_PATTERN = re.compile(r"^[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?$")
# No actor and no workspace may have these as a handle: people would read them as groups (`@all`), as nobody or as the system.
RESERVED = frozenset({"all", "here", "everyone", "nobody", "system"})


_SYMBOLS = re.compile(r"[^\w\s\x00-\x7f]")


def find_free_handle(name: str, existing: QuerySet[Any], *, fallback: str = "") -> str:
    """Return an unused handle made from a name; from `fallback` or random characters if the name has no letter or digit.

    Letters of other scripts are transliterated (`小明` becomes `xiaoming`), and emoji are left out. Similar handles are locked
    until the caller's transaction ends, so that two concurrent callers get different ones.
    """
    base = slugify(anyascii(_SYMBOLS.sub(" ", name)))[:32].strip("-_") or fallback or f"u-{secrets.token_hex(3)}"
    if base in RESERVED:
        base = f"{base}-1"
    lock_handle(base)
    used = set(existing.filter(handle__startswith=base).values_list("handle", flat=True))
    if base not in used:
        return base
    return next(f"{base}-{n}" for n in range(2, len(used) + 3) if f"{base}-{n}" not in used)


def normalize_handle(text: str) -> str:
    """Return a handle as it is stored: without `@`, in small letters."""
    return text.strip().removeprefix("@").lower()


def check_handle(handle: str, existing: QuerySet[Any], *, reserved: frozenset[str] = RESERVED) -> str:
    """Check that a chosen handle is valid and free, return it as it is stored, and lock it until the caller's transaction ends.

    Call it before chats are locked. Raises `Invalid` if the text cannot be a handle, and `Conflict` (`handle_taken`) if one of
    the `existing` rows has it or it is `reserved`.
    """
    handle = normalize_handle(handle)
    if not HANDLE_PATTERN.fullmatch(handle):
        advice = "1 to 40 of a–z, 0–9, - and _; it begins and ends with a letter or a digit."
        raise Invalid("This cannot be a handle.", hints=[advice])
    lock_handle(handle)
    if handle in reserved or existing.filter(handle=handle).exists():
        raise Conflict("This handle is taken.", code=Code.HANDLE_TAKEN, hints=["Choose another one."])
    return handle


_NUMBERS = re.compile(r"(-\d+)+$")


def lock_handle(handle: str) -> None:
    """Lock this handle, and those that differ from it by a number at the end (`ally`, `ally-2`), until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"handle:{_NUMBERS.sub('', handle)}"])
