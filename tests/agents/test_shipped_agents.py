"""The agents that ship with the product: they are created at first use, once, and updated to the definition of the release."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from django.db import connection

from actors.models import Actor
from agents.models import AgentSpec
from agents.services import shipped
from agents.services.shipped import SHIPPED, get_shipped_agent
from chats import services as chats
from chats.models import ChatActor
from publishing.models import PendingUpdate
from tests.api.client import sign_in
from tests.factories.actors import PASSWORD
from tests.publishing.publications import finish_updates, publish

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_shipped_agent_is_public_has_no_publisher_and_is_created_once():
    first = get_shipped_agent("merger")
    assert get_shipped_agent("merger") == first
    assert (first.is_shipped, first.is_public, first.workspace_id, first.published_by_workspace_id) == (
        True,
        True,
        None,
        None,
    )
    [version] = AgentSpec.objects.filter(agent=first)
    assert (version.number, version.author, version.parse_content()) == (1, first, SHIPPED["merger"].content)


def test_a_changed_definition_becomes_the_next_version(monkeypatch):
    get_shipped_agent("merger")
    newer = SHIPPED["merger"].content.model_copy(update={"prompt": "Another text."})
    monkeypatch.setitem(shipped.SHIPPED, "merger", replace(SHIPPED["merger"], content=newer))
    for _ in range(2):
        version = get_shipped_agent("merger").current_spec
        assert version is not None
        assert version.content["prompt"] == "Another text."
    assert list(AgentSpec.objects.order_by("number").values_list("number", flat=True)) == [1, 2]


def test_a_changed_name_description_or_emoji_reaches_the_row_and_the_chats(team, monkeypatch):
    browser = get_shipped_agent("browser")
    chat = chats.create_chat(team.alice, team.workspace.id, title="", actor_ids=[browser.id])
    copy = publish(team, name="Surfer", handle="surfer")
    version = ChatActor.objects.get(chat=chat, actor=browser).version
    changed = replace(SHIPPED["browser"], name="Surfer", description="Reads the web.", emoji="🏄")
    monkeypatch.setitem(shipped.SHIPPED, "browser", changed)
    finish_updates()
    for _ in range(2):
        found = get_shipped_agent("browser")
        assert found == browser
        for row in (found, Actor.objects.get(pk=browser.pk)):
            assert (row.name, row.description, row.avatar) == (
                "Surfer",
                "Reads the web.",
                {"kind": "emoji", "emoji": "🏄"},
            )
    copy.refresh_from_db()
    assert copy.name == "Surfer 2"
    assert Actor.objects.get(pk=browser.pk).normalized_name == "surfer"
    assert AgentSpec.objects.filter(agent=browser).count() == 1
    updates = PendingUpdate.objects.filter(version=None).order_by("pk")
    assert list(updates.values_list("agent", flat=True)) == [copy.id, browser.id]
    finish_updates()
    assert ChatActor.objects.get(chat=chat, actor=browser).version > version


def test_concurrent_calls_create_a_shipped_agent_once():
    def make(_):
        try:
            return get_shipped_agent("summarizer").current_spec_id
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as threads:
        spec_ids = list(threads.map(make, range(6)))
    assert len(set(spec_ids)) == Actor.objects.filter(is_shipped=True).count() == AgentSpec.objects.count() == 1


def test_a_shipped_agent_is_not_listed_in_a_workspace(team):
    get_shipped_agent("merger")
    page = sign_in(team.alice.email, PASSWORD).ok("GET", f"workspaces/{team.workspace.id}/agents")
    assert [agent["actor"]["handle"] for agent in page["results"]] == ["robin"]
