"""Handles: the short names that mentions, tools and addresses use (S0.2)."""

import re
import secrets
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.utils.text import slugify

HANDLE = re.compile(r"^[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?$")
# Everyone and no one: never somebody's handle.
RESERVED = frozenset({"all", "here", "everyone", "nobody", "system"})


def is_handle(text: str) -> bool:
    """Whether this can be somebody's handle: 1 to 40 of a–z, 0–9, `-`, `_`, not a reserved word."""
    return bool(HANDLE.fullmatch(text)) and text not in RESERVED


def free_handle(name: str, taken: QuerySet[Any], *, fallback: str = "") -> str:
    """A handle made from a name, free among `taken`. A name without Latin letters gets `fallback` or random letters.

    Until the caller's transaction ends, nobody else looks for one like it: two who come at once get two.
    """
    base = slugify(name)[:32].strip("-_") or fallback or f"u-{secrets.token_hex(3)}"
    if base in RESERVED:
        base = f"{base}-1"
    hold_handle(base)
    used = set(taken.filter(handle__startswith=base).values_list("handle", flat=True))
    if base not in used:
        return base
    return next(f"{base}-{n}" for n in range(2, len(used) + 3) if f"{base}-{n}" not in used)


def hold_handle(base: str) -> None:
    """Whoever else wants a handle that begins like this waits until our transaction has ended."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"handle:{base}"])
