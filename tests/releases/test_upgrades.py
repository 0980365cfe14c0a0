"""`migrate` upgrades the database of every release, whose rows can then be read and changed."""

import re

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client

from actors.models import Actor
from agents.models import AgentSpec, Draft
from chats import services as chats
from chats.models import Chat, Message
from common.ids import new_id
from runs.models import Run
from suggestions.models import Suggestion
from tests.api.operations import OPERATIONS, Operation
from tests.chaos import IS_CHAOS
from tests.releases import RELEASES, load_release, migrate_to_release

pytestmark = pytest.mark.django_db(transaction=True)


def test_there_is_a_release_to_upgrade():
    assert "0.1" in RELEASES


@pytest.mark.parametrize("release", RELEASES)
def test_the_database_of_a_release_can_be_upgraded(empty_database, release):
    assert connection.introspection.table_names() == []
    things, counts = load_release(release)
    call_command("migrate", interactive=False, verbosity=0)

    for model in (Actor, AgentSpec, Chat, Draft, Message, Run, Suggestion):
        assert model._base_manager.count() == counts[model._meta.db_table] > 0
    alice = Actor.objects.get(pk=things["alice"])
    client = Client()
    client.force_login(alice)
    # A later release may have operations on kinds of rows that this release did not have, as the memory that a run used.
    for operation in OPERATIONS.values():
        # The database of the release does not have the content of files.
        is_read = (
            operation.method == "GET"
            and not operation.path.endswith(("/content", "/thumbnail"))
            and operation.answers["alice"] == 2
            and operation.prepare is Operation.prepare
            and operation.path != "runs/{run_id}/memory"
        )
        if is_read and set(re.findall(r"{(\w+)}", operation.path)) <= things.keys():
            path = operation.path.format_map(things)
            response = client.get(f"/api/v1/{path}")
            assert response.status_code < 300, (path, response.content)

    message, created = chats.post_message(alice, Chat.objects.get().id, id=new_id(), text="Good morning")
    assert created
    assert Message.objects.order_by("seq").last() == message


@pytest.mark.skipif(not IS_CHAOS, reason="a long form: part of `make chaos`")
@pytest.mark.parametrize("release", RELEASES)
def test_the_migrations_since_a_release_can_be_undone(empty_database, release):
    migrate_to_release(release)
    tables = connection.introspection.table_names()
    call_command("migrate", interactive=False, verbosity=0)
    migrate_to_release(release)
    assert connection.introspection.table_names() == tables
