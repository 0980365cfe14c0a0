"""Rows with which many tests begin: services create them once in a process, and each test gets a copy with ids of its own."""

import copyreg
import io
import pickle
import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import connection, transaction

from common.ids import new_id

T = TypeVar("T")

ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
# The rows of migrations, which are not copied and never deleted: content types and permissions do not change in a test.
TABLES_OF_MIGRATIONS = ("django_migrations", "django_content_type", "auth_permission")


class SavedRows(Generic[T]):
    """The rows that a function creates, and what it returns.

    A copy differs from new rows in its times, which are those of the first call, and in its files, which are not copied. Since
    each copy has new ids, nothing in Redis or in the memory of the process belongs to it.
    """

    def __init__(self, build: Callable[[], T]) -> None:
        """Create the rows in a transaction, read them, and roll it back."""
        with transaction.atomic(), connection.cursor() as cursor:
            built = build()
            # Copies are inserted without this check.
            connection.check_constraints()
            self._rows: dict[str, bytes] = {}
            for table in connection.introspection.table_names(cursor):
                if table not in TABLES_OF_MIGRATIONS:
                    with cursor.copy(f'COPY "{table}" TO STDOUT') as rows:
                        self._rows[table] = b"".join(rows)
            transaction.set_rollback(True)
        self._rows = {table: rows for table, rows in self._rows.items() if rows}
        self._built = _dump(built)
        # In the order of their creation, which that of the new ids is, too.
        self._ids = sorted({found for text in (*self._rows.values(), self._built) for found in ID.findall(text)})

    def copy(self) -> T:
        """Insert the rows with new ids into the database, and return what the function has returned."""
        new_ids = {old: str(new_id()).encode() for old in self._ids}

        def replace_ids(text: bytes) -> bytes:
            return ID.sub(lambda found: new_ids[found[0]], text)

        with transaction.atomic(savepoint=False), connection.cursor() as cursor:
            cursor.execute("SET LOCAL session_replication_role = replica")  # without checks of foreign keys
            for table, rows in self._rows.items():
                with cursor.copy(f'COPY "{table}" FROM STDIN') as copy:
                    copy.write(replace_ids(rows))
            cursor.execute("SET LOCAL session_replication_role = origin")
        built: T = pickle.loads(replace_ids(self._built))
        return built


def _dump(built: Any) -> bytes:
    """Pickle an object. UUIDs in it are stored as text, so that they can be replaced there."""
    file = io.BytesIO()
    pickler = pickle.Pickler(file)
    pickler.dispatch_table = copyreg.dispatch_table | {UUID: lambda id: (UUID, (str(id),))}
    pickler.dump(built)
    return file.getvalue()
