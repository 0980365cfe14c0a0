"""Participants get the unread counts of chats that they do not have open, and read their list of chats again when somebody joins
or leaves."""

from django.db import transaction

from actors.models import Actor
from actors.services import update_profile
from agents.services import agents
from chats import services as chats
from chats.selectors import get_listed_chat
from common.ids import new_id
from events.rows import Role
from notifications.models import Notification
from realtime.db_executor import run_in_db_thread
from tests.people import make_agent
from tests.realtime.story import get_version
from workspaces import services as workspaces


def is_list_change(frame):
    return frame["type"] == "chat_activity"


def is_chats_change(frame):
    return frame["type"] == "list_changed" and frame["list"] == "chats"


async def post(team, chat, text="hello"):
    await run_in_db_thread(chats.post_message, team.alice, chat.id, id=new_id(), text=text, wake="nobody")


async def test_only_participants_without_the_chat_open_get_its_unread_count(team, tabs):
    def alone():
        with transaction.atomic():
            return chats.create_chat(team.alice, team.workspace.id, title="Without Bob")

    private = await run_in_db_thread(alone)
    lobby = f"workspace:{team.workspace.id}"
    bob, alice = await tabs.open_tab(team.bob), await tabs.open_tab(team.alice)
    await bob.subscribe(lobby)
    await alice.subscribe(lobby)
    await alice.subscribe(f"chat:{team.chat.id}")
    await post(team, private)
    frame = await alice.receive_until(is_list_change)
    assert frame["chat_id"] == str(private.id)
    await post(team, team.chat)
    await post(team, team.chat)
    frame = await bob.receive_until(is_list_change)
    assert frame["chat_id"] == str(team.chat.id)
    assert (frame["unread"], frame["mentioned"], frame["last_read_seq"]) == (2, False, 0)
    assert frame["last_message"]["payload"]["text"] == "hello"
    assert await bob.is_silent()
    assert [frame["chat_id"] for frame in bob.received if is_list_change(frame)] == [str(team.chat.id)]
    assert [frame["chat_id"] for frame in alice.received if is_list_change(frame)] == [str(private.id)]


async def test_concurrent_read_cursors_are_written_together_and_sent_to_other_tabs(team, tabs, monkeypatch):
    writes = []
    write = chats.advance_read_cursors

    def counted(marks):
        writes.append(len(marks))
        write(marks)

    monkeypatch.setattr(chats, "advance_read_cursors", counted)
    topic = f"chat:{team.chat.id}"
    readers = [await tabs.open_tab(person) for person in (team.alice, team.bob)]
    phone = await tabs.open_tab(team.bob)
    await phone.subscribe(f"actor:{team.bob.id}")
    for tab in readers:
        await tab.subscribe(topic)
    await post(team, team.chat, f"hello @{team.bob.handle}")
    head = await run_in_db_thread(get_version, team.chat.id)
    for tab in readers:
        await tab.send(type="mark_read", topic=topic, seq=head - 1)
        await tab.send(type="mark_read", topic=topic, seq=head)
    frame = await phone.receive_until(is_list_change)
    assert (frame["chat_id"], frame["unread"], frame["mentioned"], frame["last_read_seq"]) == (
        str(team.chat.id),
        0,
        False,
        head,
    )
    assert writes == [2]
    unread = Notification.objects.filter(person=team.bob, type="mention", read_at=None)
    assert not await run_in_db_thread(unread.exists)


async def test_a_cursor_moves_only_in_a_subscribed_chat_and_at_most_to_its_end(team, tabs):
    topic = f"chat:{team.chat.id}"
    charlie, alice = await tabs.open_tab(team.charlie), await tabs.open_tab(team.alice)
    await charlie.send(type="mark_read", topic=topic, seq=3)
    await alice.send(type="mark_read", topic=topic, seq=3)
    bob = await tabs.open_tab(team.bob)
    await bob.subscribe(f"actor:{team.bob.id}")
    await bob.subscribe(topic)
    await bob.send(type="mark_read", topic=topic, seq=2**62)
    head = await run_in_db_thread(get_version, team.chat.id)
    assert (await bob.receive_until(is_list_change))["last_read_seq"] == head
    participants = await run_in_db_thread(
        lambda: dict(team.chat.participants.values_list("actor__name", "last_read_seq"))
    )
    assert {name: participants[name] for name in ("Alice", "Bob")} == {"Alice": 0, "Bob": head}
    await bob.send(type="mark_read", topic=topic, seq=2**63)
    assert (await bob.receive_until(lambda frame: frame["type"] == "error"))["code"] == "invalid"


async def test_the_participants_of_a_chat_without_a_title_read_its_new_title_when_somebody_joins_or_leaves(team, tabs):
    alice, bob, charlie = team.alice, team.bob, team.charlie

    def create():
        workspaces.join_workspace(charlie, team.workspace.id, role=Role.SUGGESTER, invited_by=alice)
        with transaction.atomic():
            chat = chats.create_chat(alice, team.workspace.id, title="", actor_ids=[bob.id, team.robin.id])
        return chat, chats.create_link(alice, chat.id, role="suggester", hours=1)[1].rsplit("/", 1)[1]

    def rename():
        with transaction.atomic():
            update_profile(Actor.objects.get(pk=alice.pk), name="Alicia")

    chat, token = await run_in_db_thread(create)
    tab = await tabs.open_tab(bob)
    await tab.subscribe(f"actor:{bob.id}")
    leaver = await tabs.open_tab(charlie)
    await leaver.subscribe(f"actor:{charlie.id}")
    for title, change in [
        ("Alice · Robin · Charlie", lambda: chats.add_participant(alice, chat.id, charlie.id)),
        ("Alice · Robin", lambda: chats.remove_participant(charlie, chat.id, charlie.id)),
        ("Alice · Robin · Charlie", lambda: chats.accept_link(charlie, token)),
        ("Alicia · Robin · Charlie", rename),
        ("Alicia · Robin", lambda: workspaces.remove_member(alice, team.workspace.id, charlie.id)),
        ("Alicia", lambda: agents.delete_agent(alice, team.robin.id)),
    ]:
        await run_in_db_thread(change)
        assert await tab.receive_until(is_chats_change)
        summary = await run_in_db_thread(lambda: get_listed_chat(actor=bob, chat_id=chat.id))
        assert summary is not None
        assert summary.chat.title == title
        assert await tab.is_silent()
    assert sum(is_chats_change(frame) for frame in tab.received) == 6
    while not await leaver.is_silent():
        pass
    assert sum(is_chats_change(frame) for frame in leaver.received) == 5


async def test_the_editors_who_read_a_chat_between_agents_read_its_new_title_when_an_agent_is_renamed(team, tabs):
    def create():
        with transaction.atomic():
            quill = make_agent(team.workspace, team.alice, "Quill")
            return quill, chats.open_direct_chat(team.robin, team.workspace.id, quill.id)[0]

    quill, chat = await run_in_db_thread(create)
    editor, other = await tabs.open_tab(team.alice), await tabs.open_tab(team.bob)
    await editor.subscribe(f"actor:{team.alice.id}")
    await other.subscribe(f"actor:{team.bob.id}")

    def rename():
        agents.update_agent_profile(team.alice, quill.id, name="Feather", revision=quill.revision)

    await run_in_db_thread(rename)
    assert await editor.receive_until(is_chats_change)
    summary = await run_in_db_thread(lambda: get_listed_chat(actor=team.alice, chat_id=chat.id))
    assert summary is not None
    assert summary.chat.title == "Robin · Feather"
    assert await other.is_silent()
