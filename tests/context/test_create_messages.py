"""`manage.py create_messages` appends messages for measurements."""

import json

import pytest
from django.core.management import call_command

from chats.models import Chat, Message
from tests.people import make_team

pytestmark = pytest.mark.django_db(transaction=True)


def test_messages_and_facts_are_appended_to_a_chat(capsys):
    team = make_team()
    before = Chat.objects.get(pk=team.chat.id).version
    call_command("create_messages", chat=team.chat.id, count=300, facts=5, seed=7)

    *facts, last = capsys.readouterr().out.splitlines()
    assert last == "300 messages were added."
    added = Message.objects.filter(chat=team.chat, seq__gt=before).order_by("seq")
    assert [message.seq for message in added] == list(range(before + 1, before + 301))
    assert Chat.objects.get(pk=team.chat.id).version == before + 300
    assert {message.type for message in added} == {"TEXT_MESSAGE"}
    assert not added.filter(tokens=None).exists()
    texts = [message.text for message in added]
    for fact in map(json.loads, facts):
        assert sum(fact["answer"] in text for text in texts) == 1
    assert len(facts) == 5
