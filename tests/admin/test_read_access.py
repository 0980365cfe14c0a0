"""What operators may read, and that reading is logged."""

from chats import services as chats
from chats.models import Chat, Message
from events.models import AuditRecord
from tests.admin.environment import page

WORDS = "the plan for 下週一 🦊"


def said(environment):
    return chats.post_message(environment.team.alice, environment.team.chat.id, text=WORDS, wake="nobody")[0]


def test_S04_a_chats_messages_are_read_by_an_operator_and_each_reading_is_logged(environment):
    said(environment)
    readings = AuditRecord.objects.filter(action="chat.read_by_operator", actor=environment.operator)
    for count in (1, 2):
        html = environment.client.get(
            page(Message), {"chat__id__exact": str(environment.team.chat.id)}
        ).content.decode()
        assert WORDS in html
        assert (
            readings.filter(object_id=environment.team.chat.id, workspace_id=environment.team.workspace.id).count()
            == count
        )
    shown = environment.client.get(page(AuditRecord), {"q": str(environment.team.chat.id)}).content.decode()
    assert "chat.read_by_operator" in shown


def test_S04_no_list_tells_what_was_said_unless_one_chat_is_asked_for(environment):
    message = said(environment)
    for query in ({}, {"q": str(message.id)}, {"q": "Alice"}, {"type": "TEXT_MESSAGE"}):
        html = environment.client.get(page(Message), query).content.decode()
        assert "the plan" not in html
        assert str(message.seq) in html
    assert not AuditRecord.objects.filter(action="chat.read_by_operator").exists()


def test_S04_opening_a_message_or_a_chat_is_logged_with_its_chat(environment):
    message = said(environment)
    for row in (message, environment.team.chat):
        assert environment.client.get(page(type(row), row.pk, "change")).status_code == 200
        record = AuditRecord.objects.get(action="admin.opened", object_id=row.pk)
        assert record.actor == environment.operator
        assert record.facts["table"] == type(row)._meta.label
    assert AuditRecord.objects.get(object_id=message.pk).facts["chat"] == str(environment.team.chat.id)


def test_what_is_not_there_leaves_no_trace(environment):
    assert environment.client.get(page(Chat, environment.operator.pk, "change")).status_code == 302
    assert not AuditRecord.objects.filter(action="admin.opened").exists()


def test_looking_at_the_trail_leaves_no_trail(environment):
    said(environment)
    before = AuditRecord.objects.count()
    environment.client.get(page(AuditRecord, AuditRecord.objects.all()[0].pk, "change"))
    assert AuditRecord.objects.count() == before
