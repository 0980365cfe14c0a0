"""`migrate` refuses a database that another release has written, and changes nothing in it."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

pytestmark = pytest.mark.django_db


def test_a_database_of_another_release_is_refused():
    recorder = MigrationRecorder(connection)
    recorder.record_applied("agents", "0009_memory_of_chats_only")
    before = recorder.applied_migrations()
    with pytest.raises(CommandError) as refusal:
        call_command("migrate", interactive=False, verbosity=0)
    assert "agents.0009_memory_of_chats_only" in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert recorder.applied_migrations() == before


def test_applied_migrations_of_removed_packages_are_ignored():
    MigrationRecorder(connection).record_applied("sites", "0099_from_elsewhere")
    call_command("migrate", interactive=False, verbosity=0)
