"""Somebody who is in a chat but does not have it open hears that something was said there; nobody else does."""

from django.db import transaction

from chats import services as chats
from common.ids import new_id
from realtime.sections import section


def is_bell(frame):
    return frame["type"] == "bell" and frame["what"] == "chats" and frame["chat_id"]


async def say(team, chat, text="hello"):
    await section(chats.post_message_once, actor=team.alice, chat_id=chat.id, id=new_id(), text=text, wake="nobody")


async def test_a_bell_rings_for_members_elsewhere_and_for_nobody_else(team, tabs):
    def alone():
        with transaction.atomic():
            return chats.create_chat(workspace=team.workspace, creator=team.alice, title="Without Bob")

    private = await section(alone)
    lobby = f"workspace:{team.workspace.id}"
    bob, alice = await tabs.of(team.bob), await tabs.of(team.alice)
    await bob.follow(lobby)
    await alice.follow(lobby)
    await alice.follow(f"chat:{team.chat.id}")
    await say(team, private)
    bell = await alice.hear_until(is_bell)
    assert bell["chat_id"] == str(private.id)
    await say(team, team.chat)
    await say(team, team.chat)
    bell = await bob.hear_until(is_bell)
    assert bell["chat_id"] == str(team.chat.id)
    assert await bob.is_silent()
    assert [frame["chat_id"] for frame in bob.heard if is_bell(frame)] == [str(team.chat.id)]
    assert [frame["chat_id"] for frame in alice.heard if is_bell(frame)] == [str(private.id)]
