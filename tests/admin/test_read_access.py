"""Operators may read messages, and each reading is audited."""

from chats import services as chats
from chats.models import Chat, Message
from events.models import AuditRecord
from tests.admin.environment import build_path

TEXT = "the plan for 下週一 🦊"


def post_message(environment):
    return chats.post_message(environment.team.alice, environment.team.chat.id, text=TEXT, wake="nobody")[0]


def test_an_operator_can_read_the_messages_of_a_chat_and_each_reading_is_audited(environment):
    post_message(environment)
    readings = AuditRecord.objects.filter(action="chat.read_by_operator", actor=environment.operator)
    for count in (1, 2):
        html = environment.client.get(
            build_path(Message), {"chat__id__exact": str(environment.team.chat.id)}
        ).content.decode()
        assert TEXT in html
        assert (
            readings.filter(object_id=environment.team.chat.id, workspace_id=environment.team.workspace.id).count()
            == count
        )
    shown = environment.client.get(build_path(AuditRecord), {"q": str(environment.team.chat.id)}).content.decode()
    assert "chat.read_by_operator" in shown


def test_lists_show_message_texts_only_for_one_chat(environment):
    message = post_message(environment)
    for query in ({}, {"q": str(message.id)}, {"q": "Alice"}, {"type": "TEXT_MESSAGE"}):
        html = environment.client.get(build_path(Message), query).content.decode()
        assert "the plan" not in html
        assert str(message.seq) in html
    assert not AuditRecord.objects.filter(action="chat.read_by_operator").exists()


def test_opening_a_message_or_a_chat_is_audited_with_its_chat(environment):
    message = post_message(environment)
    for row in (message, environment.team.chat):
        assert environment.client.get(build_path(type(row), row.pk, "change")).status_code == 200
        record = AuditRecord.objects.get(action="admin.opened", object_id=row.pk)
        assert record.actor == environment.operator
        assert record.facts["table"] == type(row)._meta.label
    assert AuditRecord.objects.get(object_id=message.pk).facts["chat"] == str(environment.team.chat.id)


def test_opening_a_missing_row_is_not_audited(environment):
    assert environment.client.get(build_path(Chat, environment.operator.pk, "change")).status_code == 302
    assert not AuditRecord.objects.filter(action="admin.opened").exists()


def test_opening_an_audit_record_is_not_audited(environment):
    post_message(environment)
    before = AuditRecord.objects.count()
    environment.client.get(build_path(AuditRecord, AuditRecord.objects.all()[0].pk, "change"))
    assert AuditRecord.objects.count() == before
