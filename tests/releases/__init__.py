"""Databases of the releases, written by their own code: `<release>.json` has the applied migrations and the rows of each table.

`python -m tests.servers python -m tests.releases 0.1` writes the file of a release. It is written once, when the release is
made; `test_upgrades.py` runs all later migrations on it.
"""

import json
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.migrations.executor import MigrationExecutor

FOLDER = Path(__file__).parent
RELEASES = sorted(path.stem for path in FOLDER.glob("*.json"))


def write_release(release: str, things: dict[str, str]) -> None:
    """Write the rows of the database, and `things`: ids by which the operations of the API find them."""
    migrations = sorted(MigrationExecutor(connection).loader.graph.leaf_nodes())
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace")
        tables = sorted(name for (name,) in cursor.fetchall() if name != "django_migrations")
        rows: dict[str, dict[str, Any]] = {}
        for table in tables:
            cursor.execute(
                "SELECT column_name FROM information_schema.columns WHERE table_name = %s AND is_generated = 'NEVER'"
                " ORDER BY ordinal_position",
                [table],
            )
            columns = [name for (name,) in cursor.fetchall()]
            with cursor.copy(f"COPY {table} ({_join(columns)}) TO STDOUT") as copy:
                lines = [line for block in copy for line in bytes(block).decode().splitlines()]
            if lines:
                rows[table] = {"columns": columns, "rows": sorted(lines)}
    content = {"migrations": migrations, "things": things, "tables": rows}
    (FOLDER / f"{release}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def migrate_to_release(release: str) -> None:
    """Migrate the database, forwards or backwards, to the tables of a release."""
    content = json.loads((FOLDER / f"{release}.json").read_text())
    executor = MigrationExecutor(connection)
    nodes = [tuple(node) for node in content["migrations"]]
    new_apps = executor.loader.migrated_apps - {app for app, _ in nodes}
    executor.migrate([*((app, None) for app in sorted(new_apps)), *nodes])


def load_release(release: str) -> tuple[dict[str, str], dict[str, int]]:
    """Create the tables of a release in an empty database and load its rows. Return its `things` and the row counts of tables."""
    content = json.loads((FOLDER / f"{release}.json").read_text())
    migrate_to_release(release)
    with connection.cursor() as cursor:
        cursor.execute(
            "SET session_replication_role = replica"
        )  # tables are loaded by name, not in the order of foreign keys
        for table, data in content["tables"].items():
            cursor.execute(f"DELETE FROM {table}")
            with cursor.copy(f"COPY {table} ({_join(data['columns'])}) FROM STDIN") as copy:
                copy.write("".join(line + "\n" for line in data["rows"]))
        cursor.execute("SET session_replication_role = origin")
        cursor.execute(
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_schema = 'public' AND is_identity = 'YES'"
        )
        for table, column in cursor.fetchall():  # the next row gets an id after those of the loaded rows
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), max({column})) FROM {table}")
    return content["things"], {table: len(data["rows"]) for table, data in content["tables"].items()}


def _join(columns: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in columns)
