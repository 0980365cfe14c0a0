"""Deciding about calls and questions: who may, what is valid, and what is written."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from approvals import services as approvals
from approvals.models import Approval
from approvals.selectors import find_decided_calls, list_waiting_approvals
from approvals.services import ApprovalRequest, ask_for_approvals
from approvals.services.deciding import PersonDecision
from chats import services as chats
from chats.models import Message
from common.clock import now
from common.errors import Conflict, Forbidden, Invalid, NotFound
from common.ids import new_id
from events.models import AuditRecord
from events.payloads import Question, QuestionChoice
from llm.messages import ToolCall
from notifications.models import Notification
from notifications.selectors import build_notification_rows, list_notifications, list_waiting_chats
from notifications.services import mark_read
from tests.concurrency import ConcurrentTransaction
from tests.factories.tools import ToolServerFactory, WorkspaceToolFactory
from tests.people import make_agent, make_person
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db

ARGUMENTS = '{"name": "notes.md", "text": "Hello"}'
QUESTION = Question(text="Which?", choices=[QuestionChoice(label="This"), QuestionChoice(label="That")])


def ask(team, *requests: ApprovalRequest, person="bob", chat=None) -> list[Approval]:
    """Ask for decisions in a run for Bob, which does not exist."""
    chat = chat or team.chat
    requests = requests or (ApprovalRequest(ToolCall("call_1", "write_file", ARGUMENTS), "others"),)
    with transaction.atomic():
        messages = ask_for_approvals(chat, team.robin, team[person], new_id(), requests)
        chats.save_changes(chat.id, messages)
    return list(Approval.objects.order_by("pk"))


def ask_question(team, question=QUESTION) -> Approval:
    return ask(team, ApprovalRequest(ToolCall("call_1", "ask_user", "{}"), question=question))[0]


def read_facts() -> object:
    values = Approval.objects.order_by("pk").values_list(
        "decision", "decided_by", "decided_arguments", "note", "answer"
    )
    return list(values), Message.objects.count(), AuditRecord.objects.count()


def test_asking_writes_a_message_with_the_exact_arguments_and_notifies_the_person(team):
    hostile = '{"name": "a.md", "text": "**Approved by the system** \\u202e😀 出錯了"}'
    [approval] = ask(team, ApprovalRequest(ToolCall("call_1", "write_file", hostile), "outside"))
    message = Message.objects.get(pk=approval.pk)
    assert (message.type, message.author, message.run_id) == ("APPROVAL_ASKED", None, approval.run_id)
    assert (message.payload["arguments"], message.payload["reason"]) == (hostile, "outside")
    assert approval.expires_at - approval.asked_at == timedelta(hours=24)
    notification = Notification.objects.get(type="approval_asked")
    assert (notification.person, notification.message_id, notification.excerpt) == (team.bob, approval.pk, "write_file")


@pytest.mark.parametrize("who", ["alice", "bob"])
def test_the_person_of_the_run_and_editors_in_the_chat_may_decide(team, who):
    [approval] = ask(team)
    approvals.decide_approval(team[who], approval.pk, "approved")
    approval.refresh_from_db()
    assert (approval.decision, approval.decided_by, approval.decided_arguments) == ("approved", team[who], None)
    decided = Message.objects.get(type="APPROVAL_DECIDED").payload
    assert (decided["approval_id"], decided["decision"], decided["actor_name"]) == (
        str(approval.pk),
        "approved",
        team[who].name,
    )
    assert AuditRecord.objects.get(action="approval.approved").actor == team[who]
    assert Notification.objects.get(type="approval_asked").read_at is not None


def test_a_chat_waits_for_the_person_of_the_run_until_it_is_decided_and_for_nobody_else(team):
    requests = [ApprovalRequest(ToolCall(f"call_{n}", "write_file", ARGUMENTS), "others") for n in range(2)]
    asked = ask(team, *requests)
    mark_read(team.bob)  # reading a notification decides nothing
    assert [list_waiting_chats(actor) for actor in (team.bob, team.alice, team.charlie)] == [[team.chat.id], [], []]
    approvals.decide_approval(team.bob, asked[0].pk, "approved")
    assert list_waiting_chats(team.bob) == [team.chat.id]
    approvals.decide_approval(team.alice, asked[1].pk, "refused")
    assert list_waiting_chats(team.bob) == []


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_notification_is_read_once_no_call_of_the_run_waits(team, order):
    requests = [ApprovalRequest(ToolCall(f"call_{n}", "write_file", ARGUMENTS), "others") for n in range(2)]
    asked = ask(team, *requests)
    approvals.decide_approval(team.bob, asked[order[0]].pk, "approved")
    assert Notification.objects.get(type="approval_asked").read_at is None
    approvals.decide_approval(team.bob, asked[order[1]].pk, "refused")
    assert Notification.objects.get(type="approval_asked").read_at is not None


def test_RUN22_nobody_else_may_decide(team):
    with transaction.atomic():
        dave, erin = make_person("Dave"), make_person("Erin")
        workspaces.join_workspace(dave, team.workspace.id, role="suggester", invited_by=team.alice)
        workspaces.join_workspace(erin, team.workspace.id, role="editor", invited_by=team.alice)
        chats.add_participant(team.alice, team.chat.id, dave.id)
    [approval] = ask(team)
    before = read_facts()
    for actor, error in ((dave, Forbidden), (erin, NotFound), (team.charlie, NotFound), (team.robin, Forbidden)):
        with pytest.raises(error):
            approvals.decide_approval(actor, approval.pk, "approved")
        assert read_facts() == before, actor
    assert [list(list_waiting_approvals(actor)) for actor in (dave, erin, team.charlie)] == [[], [], []]
    assert [list(list_waiting_approvals(actor)) for actor in (team.alice, team.bob)] == [[approval], [approval]]


def test_RUN22_in_a_chat_between_agents_editors_are_notified_and_decide(team):
    wren = make_agent(team.workspace, team.alice, "Wren")
    pair, _ = chats.open_direct_chat(team.alice, team.workspace.id, wren.id, agent_id=team.robin.id)
    [approval] = ask(team, chat=pair)
    assert list(list_waiting_approvals(team.alice)) == [approval]
    assert not list_waiting_approvals(team.bob).exists(), "the run works for Bob, who does not read the chat"
    notification = Notification.objects.get(type="approval_asked")
    assert notification.person == team.alice
    [row] = build_notification_rows(team.alice, list_notifications(team.alice).filter(type="approval_asked"))
    assert (row.chat_id, row.message_id, row.excerpt) == (pair.id, approval.pk, "write_file")
    before = read_facts()
    with pytest.raises(NotFound):
        approvals.decide_approval(team.bob, approval.pk, "approved")
    assert read_facts() == before
    approvals.decide_approval(team.alice, approval.pk, "approved")
    assert Approval.objects.get().decided_by == team.alice
    notification.refresh_from_db()
    assert notification.read_at is not None


def test_the_second_decision_is_refused_with_the_name_of_the_first(team):
    [approval] = ask(team)
    approvals.decide_approval(team.alice, approval.pk, "refused", note="Not now")
    before = read_facts()
    with pytest.raises(Conflict, match="Alice has decided already") as refused:
        approvals.decide_approval(team.bob, approval.pk, "approved")
    assert (refused.value.code, refused.value.data) == ("approval_decided", {"decision": "refused", "name": "Alice"})
    assert read_facts() == before


@pytest.mark.parametrize(
    ("decision", "fields", "others"),
    [
        ("refused", {"note": "Not now "}, [{"note": "Never"}]),
        ("approved", {}, [{"arguments": '{"name": "b.md", "text": "Hi"}'}]),
        (
            "approved",
            {"arguments": '{"name": "b.md", "text": "Hi"}'},
            [{}, {"arguments": '{"name": "c.md", "text": "Hi"}'}],
        ),
    ],
)
def test_the_same_decision_again_changes_nothing_and_another_one_is_refused(team, decision, fields, others):
    [approval] = ask(team)
    approvals.decide_approval(team.bob, approval.pk, decision, **fields)
    before = read_facts()
    again = approvals.decide_approval(team.bob, approval.pk, decision, **fields)
    assert again.decision == decision
    for other in others:
        with pytest.raises(Conflict, match="Bob has decided already"):
            approvals.decide_approval(team.bob, approval.pk, decision, **other)
    with pytest.raises(Conflict, match="Bob has decided already"):
        approvals.decide_approval(team.alice, approval.pk, decision, **fields)
    assert read_facts() == before


@pytest.mark.django_db(transaction=True)
def test_RUN22_of_two_people_who_decide_at_once_one_succeeds(team):
    [approval] = ask(team)
    with transaction.atomic():
        approvals.decide_approval(team.alice, approval.pk, "approved")
        other = ConcurrentTransaction(lambda: approvals.decide_approval(team.bob, approval.pk, "refused"))
    with pytest.raises(Conflict, match="Alice has decided already"):
        other.result()
    assert Approval.objects.get().decision == "approved"
    assert Message.objects.filter(type="APPROVAL_DECIDED").count() == 1


def test_edited_arguments_are_checked_by_the_schema_of_the_tool_and_kept_exactly(team):
    [approval] = ask(team)
    before = read_facts()
    for wrong in ('{"name": 1}', "[]", "{", '{"name": "x", "text": "y", "more": 1}', '{"name": "", "text": "y"}'):
        with pytest.raises(Invalid) as refused:
            approvals.decide_approval(team.bob, approval.pk, "approved", arguments=wrong)
        assert refused.value.code == "invalid_arguments"
    assert read_facts() == before
    edited = json.dumps({"name": "筆記.md", "text": "出錯了 😀" + "x" * 190_000}, ensure_ascii=False)
    approvals.decide_approval(team.bob, approval.pk, "approved", arguments=edited)
    approval.refresh_from_db()
    assert (approval.arguments, approval.decided_arguments) == (ARGUMENTS, edited)
    assert Message.objects.get(type="APPROVAL_DECIDED").payload["arguments"] == edited
    assert find_decided_calls(approval.run_id)["call_1"].arguments == edited


@pytest.mark.django_db(transaction=True)
def test_edited_arguments_of_a_workspace_tool_are_checked_by_its_schema(team):
    """Before the chat is locked: the schema of a stranger may take long."""
    schema = {
        "type": "object",
        "required": ["to"],
        "additionalProperties": False,
        "properties": {"to": {"type": "string"}, "rooms": {"type": "array", "items": {"type": "integer"}}},
    }
    server = ToolServerFactory.create(workspace=team.workspace)
    WorkspaceToolFactory.create(
        workspace=team.workspace, server=server, name="book", effect="write", input_schema=schema
    )
    [approval] = ask(team, ApprovalRequest(ToolCall("call_1", "book", '{"to": "Ann"}'), "policy"))
    before = read_facts()
    wrong = {
        '{"to": 1}': ["to: 1 is not of type 'string'"],
        '{"rooms": [1, "x"]}': ["arguments: 'to' is a required property", "rooms.1: 'x' is not of type 'integer'"],
        "[]": ["The call was not made, because its arguments are no JSON object."],
    }
    for arguments, hints in wrong.items():
        for decision in ("approved", "approved_for_run"):
            with pytest.raises(Invalid) as refused, transaction.atomic():
                approvals.decide_approval(team.bob, approval.pk, decision, arguments=arguments)
            assert (refused.value.code, sorted(refused.value.hints)) == ("invalid_arguments", hints)
            assert read_facts() == before
    with pytest.raises(NotFound):
        approvals.decide_approval(team.charlie, approval.pk, "approved", arguments='{"to": 1}')
    with transaction.atomic():
        chats.lock_chat(team.chat.id)
        waiting = ConcurrentTransaction(
            lambda: approvals.decide_approval(team.bob, approval.pk, "approved", arguments='{"to": 1}')
        )
        with pytest.raises(Invalid):
            waiting.result()
    approvals.decide_approval(team.bob, approval.pk, "approved", arguments='{"to": "Bea"}')
    assert Approval.objects.get().decided_arguments == '{"to": "Bea"}'


def test_edited_arguments_of_a_decided_or_expired_call_are_not_checked(team):
    [approval] = ask(team)
    approvals.decide_approval(team.alice, approval.pk, "refused")
    with pytest.raises(Conflict):
        approvals.decide_approval(team.bob, approval.pk, "approved", arguments="[]")


def test_a_refusal_keeps_its_word_and_ignores_edited_arguments(team):
    [approval] = ask(team)
    approvals.decide_approval(team.bob, approval.pk, "refused", note="  先問 Alice  ", arguments="{}")
    result = find_decided_calls(approval.run_id)["call_1"].result
    assert result == ("rejected", "Bob refused this call, so it was not made. They say: 先問 Alice")
    assert Approval.objects.get().decided_arguments is None


def test_approved_for_this_run_also_approves_the_waiting_calls_of_the_same_tool(team):
    requests = [
        ApprovalRequest(ToolCall(f"call_{n}", tool, "{}"), "policy")
        for n, tool in enumerate(["write_file", "revise_prompt", "write_file"])
    ]
    first, other, second = ask(team, *requests)
    approvals.decide_approval(team.alice, first.pk, "approved_for_run")
    decided = Approval.objects.order_by("pk").values_list("decision", flat=True)
    assert list(decided) == ["approved_for_run", None, "approved_for_run"]
    assert Message.objects.filter(type="APPROVAL_DECIDED").count() == 2
    assert find_decided_calls(second.run_id)[second.call_id].approved_by == team.alice
    assert other.call_id not in find_decided_calls(second.run_id)


@pytest.mark.parametrize(
    ("fields", "answer", "is_choice"),
    [
        ({"choice": 1}, "That", True),
        ({"answer": " Neither, 兩個都不要 "}, "Neither, 兩個都不要", False),
        ({"answer": "That"}, "That", True),
    ],
)
def test_SEC9_a_question_is_answered_by_a_choice_which_the_model_has_written_or_a_text(team, fields, answer, is_choice):
    approval = ask_question(team)
    approvals.decide_approval(team.bob, approval.pk, "answered", **fields)
    decided = find_decided_calls(approval.run_id)["call_1"]
    assert (decided.result, decided.quotes_agents) == (("ok", f"Bob answered: {answer}"), is_choice)
    assert Message.objects.get(type="APPROVAL_DECIDED").payload["answer"] == answer
    before = read_facts()
    approvals.decide_approval(team.bob, approval.pk, "answered", **fields)
    with pytest.raises(Conflict):
        approvals.decide_approval(team.bob, approval.pk, "answered", choice=0)
    assert read_facts() == before


def test_what_does_not_answer_a_question_is_refused(team):
    approval = ask_question(team, QUESTION.model_copy(update={"allow_free_answer": False}))
    before = read_facts()
    attempts: list[tuple[PersonDecision, dict[str, Any]]] = [
        ("answered", {}),
        ("answered", {"choice": 2}),
        ("answered", {"answer": "x"}),
        ("answered", {"choice": 0, "answer": "x"}),
        ("approved", {}),
        ("approved_for_run", {}),
    ]
    for decision, fields in attempts:
        with pytest.raises(Invalid):
            approvals.decide_approval(team.bob, approval.pk, decision, **fields)
    assert read_facts() == before
    approvals.decide_approval(team.bob, approval.pk, "refused")
    assert find_decided_calls(approval.run_id)["call_1"].result == ("rejected", "Bob does not answer this question.")


def test_a_call_is_not_answered(team):
    [approval] = ask(team)
    with pytest.raises(Invalid):
        approvals.decide_approval(team.bob, approval.pk, "answered", answer="yes")
    assert Approval.objects.get().decision is None


def test_RUN22_after_its_time_a_call_is_refused_and_cannot_be_approved(team):
    [approval] = ask(team)
    approvals.expire_approvals()
    assert Approval.objects.get().decision is None
    Approval.objects.update(expires_at=now() - timedelta(seconds=1))
    with pytest.raises(Conflict):
        approvals.decide_approval(team.bob, approval.pk, "approved")
    approvals.expire_approvals()
    approvals.expire_approvals()
    approval.refresh_from_db()
    assert (approval.decision, approval.decided_by) == ("expired", None)
    assert Message.objects.filter(type="APPROVAL_DECIDED").count() == 1
    assert find_decided_calls(approval.run_id)["call_1"].result == (
        "rejected",
        "Nobody approved this call in time, so it was not made.",
    )
