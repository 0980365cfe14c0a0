"""Muting and archiving a chat: settings of one person, which change nothing for the others."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from chats import services as chats
from chats.models import Chat, ChatActor
from chats.selectors import get_listed_chat
from common.clock import now
from common.errors import Invalid, NotFound
from events.rows import Role
from notifications.models import Notification
from tests.people import Team
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db


def read(team: Team, name: str):
    row = get_listed_chat(actor=team[name], chat_id=team.chat.id)
    assert row is not None
    return row.is_muted, row.muted_until, row.is_archived


def test_a_person_mutes_a_chat_for_themselves_until_a_time_or_for_good(team):
    version, until = Chat.objects.get(pk=team.chat.pk).version, now() + timedelta(hours=1)
    chats.mute_chat(team.bob, team.chat.id, until=until)
    assert read(team, "bob") == (True, until, False)
    chats.mute_chat(team.bob, team.chat.id)
    assert read(team, "bob") == (True, None, False)
    assert read(team, "alice") == (False, None, False)
    assert Chat.objects.get(pk=team.chat.pk).version == version, "the others are told nothing"
    chats.unmute_chat(team.bob, team.chat.id)
    assert read(team, "bob") == (False, None, False)


def test_a_time_that_has_passed_is_refused(team):
    with pytest.raises(Invalid):
        chats.mute_chat(team.bob, team.chat.id, until=now())
    assert read(team, "bob") == (False, None, False)


def test_SEC20_a_time_that_could_be_stored_but_not_be_read_is_refused(team):
    last = datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))  # in UTC it is in the year 10000
    with pytest.raises(Invalid):
        chats.mute_chat(team.bob, team.chat.id, until=last)
    assert read(team, "bob") == (False, None, False)
    chats.mute_chat(team.bob, team.chat.id, until=last.replace(tzinfo=UTC))
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)


def test_a_mention_in_a_muted_chat_is_notified(team):
    chats.mute_chat(team.bob, team.chat.id)
    chats.post_message(team.alice, team.chat.id, text="@bob, please", wake="nobody")
    assert Notification.objects.filter(person=team.bob, type="mention").count() == 1
    row = get_listed_chat(actor=team.bob, chat_id=team.chat.id)
    assert row is not None
    assert (row.mentioned, row.is_muted) == (True, True)


def test_an_archived_chat_stays_away_until_a_mention(team):
    chats.archive_chat(team.bob, team.chat.id)
    chats.archive_chat(team.alice, team.chat.id)
    chats.post_message(team.alice, team.chat.id, text="hello", wake="nobody")
    assert (read(team, "bob")[2], read(team, "alice")[2]) == (True, True)
    chats.post_message(team.alice, team.chat.id, text="@bob, please", wake="nobody")
    assert (read(team, "bob")[2], read(team, "alice")[2]) == (False, True)
    chats.restore_chat(team.alice, team.chat.id)
    assert not read(team, "alice")[2]


def test_whoever_is_added_again_finds_the_chat_in_their_list_and_muted_as_before(team):
    chats.mute_chat(team.bob, team.chat.id)
    chats.archive_chat(team.bob, team.chat.id)
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    chats.add_participant(team.alice, team.chat.id, team.bob.id)
    assert read(team, "bob") == (True, None, False)


def test_opening_an_archived_direct_chat_brings_it_back(team):
    chat, _ = chats.open_direct_chat(team.alice, team.workspace.id, team.bob.id)
    chats.archive_chat(team.alice, chat.id)
    chats.open_direct_chat(team.alice, team.workspace.id, team.bob.id)
    assert not ChatActor.objects.get(chat=chat, actor=team.alice).is_archived


def test_whoever_comes_back_finds_a_direct_chat_that_the_other_opens_again_in_their_list(team):
    chat, _ = chats.open_direct_chat(team.alice, team.workspace.id, team.bob.id)
    chats.archive_chat(team.bob, chat.id)
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    workspaces.join_workspace(team.bob, team.workspace.id, role=Role.SUGGESTER, invited_by=team.alice)
    chats.open_direct_chat(team.alice, team.workspace.id, team.bob.id)
    assert not ChatActor.objects.get(chat=chat, actor=team.bob).is_archived


def test_whoever_is_not_in_the_chat_sets_nothing_in_it(team):
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    for change in (chats.mute_chat, chats.unmute_chat, chats.archive_chat, chats.restore_chat):
        with pytest.raises(NotFound):
            change(team.bob, team.chat.id)
    assert not ChatActor.objects.filter(is_muted=True).exists()
    assert not ChatActor.objects.filter(is_archived=True).exists()
