"""`common/schema.sql` and the migrations that it does not list make the same database as all migrations."""

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from tests.releases.schema import dump_schema

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_empty_database_gets_what_all_migrations_make(empty_database):
    call_command("migrate", interactive=False, verbosity=0)
    schema, migrations = dump_schema(), set(MigrationRecorder(connection).applied_migrations())

    _delete_tables()
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
    assert set(MigrationRecorder(connection).applied_migrations()) == migrations
    # The file creates tables only, so no migration may insert rows into an empty database.
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT count(*) FROM "{table}"')
            assert cursor.fetchone() == (len(migrations) if table == "django_migrations" else 0,), table

    # PostgreSQL writes some conditions in another way once they were dumped.
    dump = dump_schema()
    _delete_tables()
    with connection.cursor() as cursor:
        if "halfvec" in dump:
            cursor.execute("CREATE EXTENSION vector")
        cursor.execute(dump)
    assert dump_schema() == schema


def _delete_tables() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")


@pytest.mark.parametrize(
    "options", [{"plan": True}, {"check_unapplied": True}, {"fake": True}, {"app_label": "events"}]
)
def test_a_migration_that_is_not_whole_creates_only_what_it_is_asked_for(empty_database, options, capsys):
    try:
        call_command("migrate", interactive=False, verbosity=0, **options)
    except SystemExit:  # of --check: there are unapplied migrations
        assert options == {"check_unapplied": True}
    assert "chats_message" not in connection.introspection.table_names()
