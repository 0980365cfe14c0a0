"""Unread counts and mentions, whose cost does not depend on the number of unread messages (P7)."""

import pytest

from chats import hooks
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from chats.prepared_queries import MAX_UNREAD_MESSAGES, MENTION_WINDOW
from chats.selectors import get_listed_chat, list_activity
from common.ids import new_id
from tests.factories.chats import MessageFactory
from tests.people import make_person
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db


def add_messages(team, count, **payload):
    """Store this number of messages of Alice."""
    chat = Chat.objects.get(pk=team.chat.pk)
    Message.objects.bulk_create(
        MessageFactory.build(chat=chat, seq=seq, author=team.alice, payload={"text": "hi", "mentions": [], **payload})
        for seq in range(chat.version + 1, chat.version + count + 1)
    )
    Chat.objects.filter(pk=chat.pk).update(version=chat.version + count)


def summary_of(team, name="bob"):
    return get_listed_chat(actor=team[name], chat_id=team.chat.pk)


def test_unread_messages_are_counted_up_to_a_limit(team):
    add_messages(team, 3)
    assert (summary_of(team).unread, summary_of(team, "alice").unread) == (3, 0)
    add_messages(team, MAX_UNREAD_MESSAGES)
    assert summary_of(team).unread == MAX_UNREAD_MESSAGES


def test_a_mention_is_found_among_the_newest_messages_only(team):
    add_messages(team, 1, mentions=[str(team.bob.pk)])
    add_messages(team, MENTION_WINDOW - 1)
    assert summary_of(team).mentioned
    assert not summary_of(team, "alice").mentioned
    add_messages(team, 1)
    assert not summary_of(team).mentioned


def test_at_all_is_a_mention_for_all_participants_except_the_author(team):
    chats.post_message(team.alice, team.chat.id, id=new_id(), text="hello, nobody in particular")
    assert not summary_of(team).mentioned
    chats.post_message(team.alice, team.chat.id, id=new_id(), text="@all: lunch")
    assert (summary_of(team).mentioned, summary_of(team, "alice").mentioned) == (True, False)


def test_the_number_of_queries_does_not_depend_on_the_number_of_readers(team, django_assert_num_queries):
    add_messages(team, 3)
    readers = []
    for number in range(12):
        person = make_person(f"Reader-{number}")
        workspaces.join_workspace(person, team.workspace.id, role="suggester", invited_by=team.alice)
        chats.add_participant(team.alice, team.chat.id, person.id)
        readers.append(person)
    marks = [hooks.ReadCursor(person.id, team.chat.id, 2) for person in readers]
    with django_assert_num_queries(5 + 2):  # and the two of the savepoint
        chats.advance_read_cursors(marks)
    assert set(team.chat.participants.filter(actor__in=readers).values_list("last_read_seq", flat=True)) == {2}
    with django_assert_num_queries(1 + 2):
        chats.advance_read_cursors(marks)  # no cursor moves


def test_activity_and_summary_of_a_chat_agree(team):
    add_messages(team, 3, mentions=[str(team.bob.pk)])
    chats.mark_read(team.alice, Chat.objects.get(pk=team.chat.pk).id, seq=2)
    for name in ("alice", "bob"):
        summary = summary_of(team, name)
        [(_, activity)] = list_activity(
            ChatActor.objects.filter(chat=team.chat, actor=team[name]).values_list("pk", flat=True)
        )
        assert activity.model_dump() == {"chat_id": team.chat.pk} | summary.model_dump(
            include={"unread", "mentioned", "last_read_seq", "last_message"}
        )
