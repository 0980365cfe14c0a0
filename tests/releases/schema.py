"""`python -m tests.servers python -m tests.releases.schema`: write `common/schema.sql` anew, with all migrations of this checkout.

A new migration does not need it: `migrate` runs the migrations that the file does not list. Write it when so many are new that a
first start becomes slow.
"""

import os
import re
import subprocess

import django
from django.core.management import call_command
from django.db import connection

from common.management.commands.migrate import SCHEMA
from launcher.postgres import find_binaries
from tests.servers import get_database_url


def dump_schema() -> str:
    """Return the SQL that creates the tables of the database that this process uses."""
    command = (
        find_binaries()[1] / "pg_dump",
        "--schema-only",
        "--no-owner",
        "--no-privileges",
        "--no-comments",
        get_database_url(),
    )
    dump = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # What configures the session, and the names of the schema and of the extension, belong to the database that was dumped.
    dump = re.sub(r"^(--|\\|SET |SELECT pg_catalog\.set_config|CREATE EXTENSION ).*\n", "", dump, flags=re.MULTILINE)
    return re.sub(r"\n{2,}", "\n\n", dump.replace("public.", "")).strip() + "\n"


def write_schema() -> None:
    """Write `common/schema.sql` from the database that this process uses."""
    # `embeddings.0002_vector_column` does nothing where PostgreSQL lacks the extension `vector`: each database runs it for itself.
    call_command("migrate", "embeddings", "0001_initial", interactive=False, verbosity=0)
    schema = dump_schema()
    with connection.cursor() as cursor:
        cursor.execute("SELECT app, name FROM django_migrations ORDER BY id")
        rows = ",\n".join(f"    ('{app}', '{name}', now())" for app, name in cursor.fetchall())
    SCHEMA.write_text(f"{schema}\nINSERT INTO django_migrations (app, name, applied) VALUES\n{rows};\n")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    write_schema()
