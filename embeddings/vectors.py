"""The column of embeddings, which a database has only with the extension `vector` (pgvector).

A migration adds it where the extension can be created. In another database nothing fails until an embedding model is configured.
"""

from typing import Any

from django.db import DatabaseError, connection, transaction
from django.utils.translation import gettext

from common.errors import Invalid

MAX_DIMENSIONS = 4_000
"""Numbers of an embedding that fit into a row beside the rest."""
_COLUMN = (
    "SELECT 1 FROM pg_attribute WHERE attrelid = 'embeddings_messageembedding'::regclass AND attname = 'vector'"
    " AND NOT attisdropped"
)
# PLAIN keeps the vector in its row: reading it from the TOAST table for each message would take longer than comparing it.
_STATEMENTS = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    "ALTER TABLE embeddings_messageembedding ADD COLUMN IF NOT EXISTS vector halfvec",
    "ALTER TABLE embeddings_messageembedding ALTER COLUMN vector SET STORAGE PLAIN",
)


def can_store_vectors() -> bool:
    """Return whether the database can store embeddings: it has the column, or at least the extension that it needs."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT EXISTS ({_COLUMN}) OR EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector')"
        )
        return bool(cursor.fetchone()[0])


def ensure_vector_column() -> None:
    """Add the column to the database, if it is missing. Raises `Invalid` if the database has no extension `vector`."""
    with connection.cursor() as cursor:
        cursor.execute(_COLUMN)
        if cursor.fetchone():
            return
    try:
        with transaction.atomic():
            add_column(connection)
    except DatabaseError as error:
        raise Invalid(
            gettext("This installation cannot store embeddings: its PostgreSQL has no extension vector."),
            hints=[gettext("An operator installs pgvector, and runs CREATE EXTENSION vector in the database.")],
        ) from error


def add_column(database: Any) -> None:
    """Create the extension and the column. Raises `DatabaseError`."""
    with database.cursor() as cursor:
        for statement in _STATEMENTS:
            cursor.execute(statement)


def format_vector(numbers: list[float]) -> str:
    """Return an embedding as PostgreSQL reads it."""
    return f"[{','.join(f'{number:.6g}' for number in numbers)}]"
