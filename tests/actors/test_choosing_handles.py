"""Changing handles: people change their own, and editors those of agents."""

import pytest
from django.db import transaction

from actors import services as actors
from actors.models import Actor
from agents.services import agents
from chats import services as chats
from chats.models import ChatActor
from common.errors import Conflict
from common.handles import find_free_handle
from events.models import AuditRecord
from tests.api.test_rights import client_for, fingerprint
from tests.concurrency import ConcurrentTransaction
from tests.people import make_agent, make_person, make_team

pytestmark = pytest.mark.django_db


def test_a_person_who_changes_their_handle_is_mentioned_by_it(team):
    before = ChatActor.objects.get(chat=team.chat, actor=team.alice).version
    me = client_for(team, "alice").ok("PATCH", "me", {"handle": "@Ally"})
    assert me["actor"]["handle"] == "ally"
    alice = Actor.objects.get(pk=team.alice.pk)
    assert (alice.handle, alice.username) == ("ally", "ally")
    message = chats.post_message(team.bob, team.chat.id, text="hi @ally and @alice", wake="nobody")[0]
    assert message.payload["mentions"] == [str(alice.id)]
    assert ChatActor.objects.get(chat=team.chat, actor=alice).version > before
    assert AuditRecord.objects.get(action="handle.changed").facts == {"old": "alice", "new": "ally"}


def test_another_spelling_of_the_same_handle_is_no_change(team):
    alice, before = client_for(team, "alice"), ChatActor.objects.get(chat=team.chat, actor=team.alice).version
    assert alice.ok("PATCH", "me", {"handle": "@Alice"})["actor"]["handle"] == "alice"
    written = f"@{team.robin.handle.upper()}"
    alice.ok("PATCH", f"agents/{team.robin.id}", {"handle": written, "revision": team.robin.revision})
    assert not AuditRecord.objects.filter(action="handle.changed").exists()
    assert ChatActor.objects.get(chat=team.chat, actor=team.alice).version == before


@pytest.mark.parametrize(
    ("handle", "status", "code"),
    [
        ("bob", 409, "handle_taken"),
        ("BOB", 409, "handle_taken"),
        ("all", 409, "handle_taken"),
        ("", 400, "invalid"),
        ("has space", 400, "invalid"),
        ("-dash", 400, "invalid"),
        ("x" * 41, 400, "invalid"),
        ("名字", 400, "invalid"),
    ],
)
def test_a_taken_or_invalid_handle_is_refused(team, handle, status, code):
    alice = client_for(team, "alice")
    before = fingerprint()
    alice.refused(status, code, "PATCH", "me", {"handle": handle})
    assert fingerprint() == before


def test_editors_can_change_the_handle_of_an_agent_and_suggesters_cannot(team):
    other = make_agent(team.workspace, team.alice, "Other")
    path = f"agents/{team.robin.id}"
    client_for(team, "bob").refused(403, "forbidden", "PATCH", path, {"handle": "helper", "revision": 1})
    alice = client_for(team, "alice")
    alice.refused(409, "handle_taken", "PATCH", path, {"handle": other.handle, "revision": 1})
    assert alice.ok("PATCH", path, {"handle": "helper", "revision": 1})["actor"]["handle"] == "helper"
    with pytest.raises(Conflict):
        agents.update_agent_profile(team.alice, team.robin.id, revision=2, handle="everyone")


@pytest.mark.django_db(transaction=True)
def test_only_one_of_two_concurrent_changes_to_a_handle_succeeds():
    team = make_team()
    with transaction.atomic():
        actors.update_profile(team.alice, handle="ally")
        second = ConcurrentTransaction(lambda: actors.update_profile(team.charlie, handle="ally"))
    with pytest.raises(Conflict):
        second.result()
    assert Actor.people.filter(handle="ally").count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_handle_that_a_concurrent_sign_up_gets_is_taken():
    """A new person named Ally gets `ally-2` while another person chooses it. A third Ally gets another handle."""
    for name in ("Ally", "Bob", "Charlie"):
        make_person(name)
    bob, charlie = Actor.people.get(handle="bob"), Actor.people.get(handle="charlie")
    with transaction.atomic():
        bob.handle = bob.username = find_free_handle("Ally", Actor.people.all())
        bob.save()
        choosing = ConcurrentTransaction(lambda: actors.update_profile(charlie, handle="ally-2"))
    with pytest.raises(Conflict):
        choosing.result()
    with transaction.atomic():
        find_free_handle("Ally", Actor.people.all())
        naming = ConcurrentTransaction(lambda: find_free_handle("Ally 2", Actor.people.all()))
        make_person("Ally-3")
    assert bob.handle == "ally-2"
    assert naming.result() == "ally-2-2"
