"""Encrypt stored secrets with a new key."""

from collections.abc import Iterator
from uuid import UUID

from django.apps import apps
from django.db import models

from common.secrets import DecryptionFailed, is_under_newest_key, reencrypt


def rotate_keys(*, batch: int = 200) -> Iterator[tuple[int, int]]:
    """Encrypt all stored secrets with the newest of `SECRET_KEYS` (SEC18): all columns whose names begin with `encrypted_`.

    Yield after each batch the number of secrets that were encrypted, and of those that none of `SECRET_KEYS` decrypts. Secrets
    that the newest of `SECRET_KEYS` decrypts are skipped, so the rotation can be interrupted and repeated. A secret that is set
    during the rotation is not overwritten.
    """
    for table in apps.get_models():
        for field in table._meta.concrete_fields:
            if field.name.startswith("encrypted_") and not table._meta.proxy:
                yield from _rotate_keys_of_column(table, field.name, batch)


def _rotate_keys_of_column(table: type[models.Model], column: str, batch: int) -> Iterator[tuple[int, int]]:
    after: UUID | None = None
    while True:
        rows = table._default_manager.exclude(**{column: ""}).order_by("pk")
        if after is not None:
            rows = rows.filter(pk__gt=after)
        found = list(rows.values_list("pk", column)[:batch])
        if not found:
            return
        rotated = undecryptable = 0
        for pk, old in found:
            if is_under_newest_key(old):
                continue
            try:
                unchanged = table._default_manager.filter(pk=pk, **{column: old})
                rotated += unchanged.update(**{column: reencrypt(old)})
            except DecryptionFailed:
                undecryptable += 1
        after = found[-1][0]
        yield rotated, undecryptable
