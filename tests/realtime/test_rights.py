"""SEC5, EDIT6: rights of sockets are checked repeatedly, and a withdrawn right ends subscriptions at once."""

import itertools
import json

import pytest
from django.contrib.sessions.models import Session
from django.db import transaction
from django.test import Client

from actors.models import Actor
from chats import services as chats
from chats.permissions import ChatVerb, get_chat_for
from common.errors import NotFound
from realtime import maintenance
from realtime.db_executor import run_in_db_thread
from realtime.hub import get_hub
from realtime.rights import SocketSignIn, filter_allowed, filter_signed_in
from realtime.topics import Topic
from tests.realtime.test_socket import post, texts
from workspaces import services as workspaces
from workspaces.permissions import WorkspaceVerb, get_workspace_for


def test_SEC5_the_default_intervals_are_short_enough():
    """Other tests shorten them. Rights are checked within five seconds, with the time of the query. A client connects again
    after 25 s without a frame, in which two heartbeats are sent."""
    assert maintenance.RIGHTS_CHECK_INTERVAL_SECONDS + 1 <= 5
    assert 2 * maintenance.HEARTBEAT_INTERVAL_SECONDS < 25
    assert maintenance.PROBE_INTERVAL_SECONDS <= 2
    assert maintenance.REPAIR_TIMEOUT <= 5


async def test_SEC5_a_removed_participant_gets_no_more_frames_of_the_chat(team, tabs):
    topic = f"chat:{team.chat.id}"
    alice, bob = await tabs.open_tab(team.alice), await tabs.open_tab(team.bob)
    for tab in (alice, bob):
        await tab.subscribe(topic)
    await bob.subscribe(f"actor:{team.bob.id}")
    await run_in_db_thread(chats.remove_participant, team.alice, team.chat.id, team.bob.id)
    access = await bob.receive_type("access")
    assert (access["topic"], access["allowed"]) == (topic, False)
    await run_in_db_thread(post, team.chat, team.alice, "among ourselves")
    await alice.receive_until(lambda frame: "among ourselves" in json.dumps(frame))
    assert await bob.is_silent()
    assert "among ourselves" not in texts(bob)
    assert (await bob.subscribe(topic))["code"] == "not_found"


async def test_SEC5_a_person_who_leaves_the_workspace_loses_all_its_topics(team, tabs):
    bob = await tabs.open_tab(team.bob)
    topics = {f"chat:{team.chat.id}", f"workspace:{team.workspace.id}"}
    for topic in topics | {f"actor:{team.bob.id}"}:
        await bob.subscribe(topic)
    await run_in_db_thread(workspaces.remove_member, team.alice, team.workspace.id, team.bob.id)
    lost = {(await bob.receive_type("access"))["topic"] for _ in topics}
    assert lost == topics
    assert [str(topic) for socket in get_hub().sockets for topic in socket.subscriptions] == [f"actor:{team.bob.id}"]


async def test_SEC5_the_members_of_a_deleted_workspace_lose_all_its_topics_at_once(team, tabs, monkeypatch):
    monkeypatch.setattr("realtime.maintenance.RIGHTS_CHECK_INTERVAL_SECONDS", 3600.0)
    topics = {f"chat:{team.chat.id}", f"workspace:{team.workspace.id}"}
    opened = [await tabs.open_tab(person) for person in (team.alice, team.bob)]
    for tab in opened:
        for topic in topics:
            await tab.subscribe(topic)
    await run_in_db_thread(lambda: workspaces.delete_workspace(team.alice, team.workspace.id, name=team.workspace.name))
    for tab in opened:
        assert {(await tab.receive_type("access"))["topic"] for _ in topics} == topics
    assert not [topic for socket in get_hub().sockets for topic in socket.subscriptions]


async def test_SEC5_a_right_withdrawn_without_a_notification_ends_within_five_seconds(team, tabs, quick):
    """The periodic check finds it without a notification."""
    bob = await tabs.open_tab(team.bob)
    await bob.subscribe(f"chat:{team.chat.id}")
    await run_in_db_thread(lambda: team.chat.participants.filter(actor=team.bob).delete())
    assert (await bob.receive_type("access"))["allowed"] is False


@pytest.mark.parametrize("way", ["signs out", "is deactivated", "has a new password"])
async def test_SEC5_a_socket_is_closed_when_its_sign_in_ends(team, tabs, quick, way):
    bob, alice = await tabs.open_tab(team.bob), await tabs.open_tab(team.alice)
    await bob.subscribe(f"chat:{team.chat.id}")

    def happen():
        if way == "signs out":
            keys = [socket.sign_in.session_key for socket in get_hub_sockets if socket.actor == team.bob]
            Session.objects.filter(session_key__in=keys).delete()
        elif way == "is deactivated":
            Actor.objects.filter(pk=team.bob.pk).update(is_active=False)
        else:
            team.bob.set_password("another long password")
            team.bob.save()

    get_hub_sockets = list(get_hub().sockets)
    await run_in_db_thread(happen)
    assert await bob.wait_for_close() == 4003
    assert [socket.actor for socket in get_hub().sockets] == [team.alice]
    assert (await alice.subscribe(f"chat:{team.chat.id}"))["type"] == "subscribed"


async def test_SEC5_sockets_are_closed_at_once_when_the_person_signs_out(team, tabs, monkeypatch):
    """Another session of the same person stays open."""
    monkeypatch.setattr("realtime.maintenance.RIGHTS_CHECK_INTERVAL_SECONDS", 3600.0)
    page = Client()

    def sign_in():
        page.force_login(team.bob)
        return page.cookies["sessionid"].value

    bob, elsewhere = await tabs.open_tab(team.bob, key=await run_in_db_thread(sign_in)), await tabs.open_tab(team.bob)
    for tab in (bob, elsewhere):
        await tab.subscribe(f"chat:{team.chat.id}")  # the hub is in its groups then
    await run_in_db_thread(lambda: page.delete("/_allauth/browser/v1/auth/session"))
    assert await bob.wait_for_close() == 4003
    assert (await elsewhere.subscribe(f"chat:{team.chat.id}"))["type"] == "subscribed"


def test_EDIT6_the_check_of_all_sockets_agrees_with_the_permission_functions(team):
    """Compare with `get_chat_for` and similar functions, for every person and topic in several states."""
    people = [team.alice, team.bob, team.charlie]
    topics = [
        *(Topic("chat", id_) for id_ in (team.chat.id, team.workspace.id)),
        *(Topic("workspace", id_) for id_ in (team.workspace.id, team.elsewhere.id, team.chat.id)),
        *(Topic("actor", id_) for id_ in (team.alice.id, team.bob.id, team.robin.id)),
    ]
    changes = [
        lambda: None,
        lambda: chats.remove_participant(team.alice, team.chat.id, team.bob.id),
        lambda: workspaces.remove_member(team.alice, team.workspace.id, team.bob.id),
        lambda: team.workspace.memberships.filter(actor=team.alice).delete(),
        lambda: Actor.objects.filter(pk=team.charlie.pk).update(is_active=False),
    ]
    for change in changes:
        with transaction.atomic():
            change()
        pairs = {(person.id, topic) for person, topic in itertools.product(people, topics)}
        allowed = filter_allowed(pairs)
        for person, topic in itertools.product(people, topics):
            person = Actor.objects.get(pk=person.pk)
            assert ((person.id, topic) in allowed) == (person.is_active and passes(person, topic)), (person, topic)


def passes(person, topic):
    try:
        if topic.kind == "chat":
            get_chat_for(person, topic.id, ChatVerb.SEE)
        elif topic.kind == "workspace":
            get_workspace_for(person, topic.id, WorkspaceVerb.SEE)
    except NotFound:
        return False
    return topic.kind != "actor" or topic.id == person.id


def test_checking_rights_takes_the_same_queries_for_two_and_twenty_sockets(team, django_assert_num_queries):
    def pairs(count):
        chats_ = [chats.create_chat(team.alice, team.workspace.id, title=str(number)) for number in range(count)]
        return {(team.alice.id, Topic("chat", chat.id)) for chat in chats_} | {
            (team.bob.id, Topic("workspace", team.workspace.id)),
            (team.bob.id, Topic("actor", team.bob.id)),
        }

    for count in (2, 20):
        asked = pairs(count)
        with django_assert_num_queries(3):
            assert filter_allowed(asked) == asked
        sign_ins = {SocketSignIn(f"key {number}", team.alice.id, "stamp") for number in range(count)}
        with django_assert_num_queries(2):
            assert filter_signed_in(sign_ins) == set()
