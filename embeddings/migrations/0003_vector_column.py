"""Add the column of embeddings where the database has the extension `vector`. Another database gets it when an embedding model is
configured (`embeddings.vectors.require_vectors`)."""

import logging

from django.db import DatabaseError, migrations, transaction

STATEMENTS = (
    "CREATE EXTENSION IF NOT EXISTS vector",
    "ALTER TABLE embeddings_messageembedding ADD COLUMN IF NOT EXISTS vector halfvec",
    "ALTER TABLE embeddings_messageembedding ALTER COLUMN vector SET STORAGE PLAIN",
)


def add_column(apps, schema_editor):
    database = schema_editor.connection
    try:
        with transaction.atomic(using=database.alias), database.cursor() as cursor:
            for statement in STATEMENTS:
                cursor.execute(statement)
    except DatabaseError as error:
        logging.getLogger(__name__).info("This database stores no embeddings: %s", str(error).strip())


def remove_column(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("ALTER TABLE embeddings_messageembedding DROP COLUMN IF EXISTS vector")


class Migration(migrations.Migration):
    dependencies = [("embeddings", "0002_initial_2026_11_28")]

    operations = [migrations.RunPython(add_column, remove_column)]
