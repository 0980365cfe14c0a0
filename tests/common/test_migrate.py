"""`migrate` refuses a database that another release has written, and changes nothing in it."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("app", "name"),
    [("agents", "0009_memory_of_chats_only"), ("actors", "0001_initial")],
    ids=["a later release", "a development version before 0.1"],
)
def test_a_database_of_another_release_is_refused(app, name):
    recorder = MigrationRecorder(connection)
    recorder.record_applied(app, name)
    before = recorder.applied_migrations()
    with pytest.raises(CommandError) as refusal:
        call_command("migrate", interactive=False, verbosity=0)
    assert f"{app}.{name}" in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert recorder.applied_migrations() == before


def test_applied_migrations_of_removed_packages_are_ignored():
    MigrationRecorder(connection).record_applied("sites", "0099_from_elsewhere")
    call_command("migrate", interactive=False, verbosity=0)
