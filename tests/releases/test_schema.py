"""`migrate` makes of an empty database what Django's own code makes of it, which renders all related models for each operation."""

import re
import subprocess

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from launcher.postgres import find_binaries
from tests.servers import get_database_url

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_empty_database_gets_what_all_migrations_make(empty_database):
    call_command("migrate", interactive=False, verbosity=0)
    schema, migrations = dump_schema(), set(MigrationRecorder(connection).applied_migrations())
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")

    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
    assert set(MigrationRecorder(connection).applied_migrations()) == migrations
    assert dump_schema() == schema
    # The rows of migrations would be missing in tests, which delete all rows.
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT count(*) FROM "{table}"')
            assert cursor.fetchone() == (len(migrations) if table == "django_migrations" else 0,), table


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
    # Without comments, blank lines and a random word of each dump.
    return re.sub(r"^((--|\\).*)?\n", "", dump, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "options", [{"plan": True}, {"check_unapplied": True}, {"fake": True}, {"app_label": "events"}]
)
def test_a_migration_that_is_not_whole_creates_only_what_it_is_asked_for(empty_database, options, capsys):
    try:
        call_command("migrate", interactive=False, verbosity=0, **options)
    except SystemExit:  # of --check: there are unapplied migrations
        assert options == {"check_unapplied": True}
    assert "chats_message" not in connection.introspection.table_names()
