"""Sockets by the API token of an agent: its own chats only, and while the token and the agent are valid (AGT1)."""

import pytest
from django.db import transaction

from actors import services as actors
from chats.models import ChatActor
from realtime import maintenance
from realtime.db_executor import run_in_db_thread
from tests.people import make_operator
from webhooks import services as webhooks


@pytest.fixture
def made(team):
    with transaction.atomic():
        return webhooks.create_agent_token(team.alice, team.robin.id, name="Bot", days=None, scope="full")


def open_socket(tabs, text):
    return tabs.with_headers([(b"host", b"localhost:8000"), (b"authorization", f"Bearer {text}".encode())])


async def test_the_socket_follows_the_chats_of_the_agent_and_no_other_topic(team, tabs, made):
    tab = open_socket(tabs, made[1])
    assert await tab.connect()
    assert (await tab.subscribe(f"chat:{team.chat.id}"))["snapshot"] is True
    for topic in (f"workspace:{team.workspace.id}", f"actor:{team.alice.id}"):
        assert (await tab.subscribe(topic))["code"] == "not_found"
    await run_in_db_thread(ChatActor.objects.filter(actor=team.robin).update, ended_at=team.chat.created_at)
    second = open_socket(tabs, made[1])
    assert await second.connect()
    assert (await second.subscribe(f"chat:{team.chat.id}"))["code"] == "not_found"


@pytest.mark.parametrize("end", ["revoked", "suspended"])
async def test_a_socket_ends_at_once_when_the_token_is_revoked_or_the_agent_suspended(
    team, tabs, made, end, monkeypatch
):
    monkeypatch.setattr(maintenance, "RIGHTS_CHECK_INTERVAL_SECONDS", 60.0)  # not by the clock
    tab = open_socket(tabs, made[1])
    assert await tab.connect()
    await tab.subscribe(f"chat:{team.chat.id}")

    def finish():
        with transaction.atomic():
            if end == "revoked":
                webhooks.revoke_agent_token(team.alice, team.robin.id, made[0].id)
            else:
                actors.suspend_agent(make_operator(), team.robin.id)

    await run_in_db_thread(finish)
    assert await tab.wait_for_close() == 4003
