"""What somebody has not read costs the same to count, however long they were away (P7)."""

import pytest

from chats import services as chats
from chats.models import Chat, Message
from chats.selectors import MOST_SEARCHED, MOST_UNREAD, chat_summary
from common.clock import now
from common.ids import new_id

pytestmark = pytest.mark.django_db


def said(team, count, **payload):
    """Alice says something, `count` times."""
    chat = Chat.objects.get(pk=team.chat.pk)
    Message.objects.bulk_create(
        Message(
            chat=chat, seq=seq, version=seq, author=team.alice, type="TEXT_MESSAGE", created_at=now(),
            payload={"text": "hi", "mentions": [], **payload},
        )
        for seq in range(chat.version + 1, chat.version + count + 1)
    )  # fmt: skip
    Chat.objects.filter(pk=chat.pk).update(version=chat.version + count)


def summary_of(team, name="bob"):
    return chat_summary(actor=team[name], chat_id=team.chat.pk)


def test_unread_lines_are_counted_up_to_a_limit(team):
    said(team, 3)
    assert (summary_of(team).unread, summary_of(team, "alice").unread) == (3, 0)
    said(team, MOST_UNREAD)
    assert summary_of(team).unread == MOST_UNREAD


def test_a_mention_is_found_among_the_newest_lines_only(team):
    said(team, 1, mentions=[str(team.bob.pk)])
    said(team, MOST_SEARCHED - 1)
    assert summary_of(team).mentioned
    assert not summary_of(team, "alice").mentioned
    said(team, 1)
    assert not summary_of(team).mentioned


def test_at_all_marks_the_chat_as_a_mention_for_everybody_but_the_speaker(team):
    chats.post_message_once(actor=team.alice, chat_id=team.chat.id, id=new_id(), text="hello, nobody in particular")
    assert not summary_of(team).mentioned
    chats.post_message_once(actor=team.alice, chat_id=team.chat.id, id=new_id(), text="@all: lunch")
    assert (summary_of(team).mentioned, summary_of(team, "alice").mentioned) == (True, False)
