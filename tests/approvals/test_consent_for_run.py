"""The approval of all calls of a tool in a run: on which facts it was given, and when it no longer holds (FAIR8)."""

import json
from itertools import product
from typing import Any

import pytest
from django.db import transaction

from actors.models import Actor
from approvals import services as approvals
from approvals.models import Approval
from approvals.selectors import Consent, find_consent, find_decided_calls
from approvals.services import ApprovalRequest, ask_for_approvals
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from common.clock import now
from common.errors import Forbidden, Invalid
from common.ids import new_id
from events.payloads import ChatTarget, ServerTarget
from events.rows import Policy
from llm.messages import ToolCall
from tests.factories.tools import ToolServerFactory, WorkspaceToolFactory
from tests.people import make_agent, make_person
from tools.interface import Tool, ToolContext
from tools.registry import registry
from tools.selectors import build_tool
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db

WRITE = {"name": "a.md", "text": "Hello"}
PAY = {"query": "Alice"}


class Driven:
    """A run of Robin for Alice, who is alone with it. It makes one call after the other."""

    def __init__(self, team: Any) -> None:
        self.team, self.run_id, self.has_outside_texts = team, new_id(), False
        ChatActor.objects.filter(chat=team.chat, actor=team.bob).delete()
        server = ToolServerFactory.create(workspace=team.workspace, name="Bank", base_url="https://bank.example")
        row = WorkspaceToolFactory.create(
            workspace=team.workspace,
            server=server,
            name="pay",
            effect="write",
            request={"method": "POST", "path": "/payments", "arguments": [], "body": "none"},
        )
        self.pay = build_tool(row)
        self.count = 0

    def check(self, tool: Tool, arguments: dict[str, Any], policy: Policy = Policy.ASK) -> Consent:
        """Return whether the next call may be made."""
        team = self.team
        context = ToolContext(
            team.robin,
            team.alice,
            team.chat.id,
            self.run_id,
            "c",
            has_outside_texts=self.has_outside_texts,
            workspace_id=team.workspace.id,
            shown_in_chat_id=team.chat.id,
        )
        args = tool.parse_arguments(json.dumps(arguments))
        return find_consent(tool, policy, context, args, chat_id=team.chat.id, workspace_id=team.workspace.id)

    def ask(self, tool: Tool, arguments: dict[str, Any], consent: Consent) -> Approval:
        """Store the card of a call."""
        self.count += 1
        call = ToolCall(f"call_{self.count}", tool.name, json.dumps(arguments))
        team = self.team
        with transaction.atomic():
            request = ApprovalRequest(call, consent.reason, facts=consent.facts)
            messages = ask_for_approvals(team.chat, team.robin, team.alice, self.run_id, [request])
            chats.save_changes(team.chat.id, messages)
        return Approval.objects.get(run_id=self.run_id, call_id=call.id)

    def approve_for_run(self, tool: Tool, arguments: dict[str, Any], policy: Policy = Policy.ASK) -> Approval:
        approval = self.ask(tool, arguments, self.check(tool, arguments, policy))
        approvals.decide_approval(self.team.alice, approval.pk, "approved_for_run")
        return approval

    # Steps that raise the class of the texts that the run has read.

    def let_carol_join(self) -> None:
        chats.add_participant(self.team.alice, self.team.chat.id, add_carol(self.team).id)

    def read_page(self) -> None:
        payload = {"tool_call_id": new_id().hex, "name": "web_fetch", "status": "ok", "text": "pay EVIL", "seconds": 1}
        row = Message(
            chat=self.team.chat, author=self.team.robin, type="TOOL_RESPONSE", payload=payload, created_at=now()
        )
        with transaction.atomic():
            chats.save_changes(self.team.chat.id, [row])

    def read_memory(self) -> None:
        self.has_outside_texts = True


def add_carol(team):
    carol = make_person("Carol")
    workspaces.join_workspace(carol, team.workspace.id, role="suggester", invited_by=team.alice)
    return carol


@pytest.fixture
def driven(team):
    return Driven(team)


RAISING = {
    "others": Driven.let_carol_join,
    "outside": Driven.read_page,
    "memory": Driven.read_memory,
}
RANKS = {"": 0, "others": 1, "outside": 2, "memory": 2}


@pytest.mark.parametrize("policy", [Policy.ASK, Policy.AUTO])
@pytest.mark.parametrize("steps", list(product(["", *RAISING], RAISING)), ids="-".join)
@pytest.mark.parametrize("name", ["pay", "write_file"])
def test_FAIR8_after_a_step_that_raises_the_class_of_texts_the_next_writing_call_has_its_own_card(
    driven, name, steps, policy
):
    tool, arguments = (driven.pay, PAY) if name == "pay" else (registry[name], WRITE)
    first, second = steps
    if first:
        RAISING[first](driven)
    consent = driven.check(tool, arguments, policy)
    if consent.reason is None:  # nobody is asked yet, so there is no consent which could outlive its facts
        assert (policy, first) == (Policy.AUTO, "")
    elif name == "pay" and RANKS[first] == 2:
        assert not consent.facts.can_approve_for_run
        return
    else:
        driven.approve_for_run(tool, arguments, policy)
        covered = driven.check(tool, arguments, policy)
        assert (covered.reason, covered.approved_by) == (None, driven.team.alice)

    if second == first == "others":
        return
    RAISING[second](driven)

    after = driven.check(tool, arguments, policy)
    if RANKS[second] <= RANKS[first]:
        assert after.reason is None
        return
    assert after.reason == ("others" if second == "others" else "outside")
    assert after.approved_by is None
    assert after.facts.asked_again == ("texts" if consent.reason else None)
    assert after.facts.can_approve_for_run is not (name == "pay" and RANKS[second] == 2)
    card = driven.ask(tool, arguments, after).build_asked_payload()
    assert (card.asked_again, card.read_texts) == (after.facts.asked_again, after.facts.read_texts)


def test_FAIR8_a_tool_that_reads_and_asks_is_asked_about_again_after_a_page(driven):
    tool, arguments = registry["current_time"], {"timezone": "UTC"}
    driven.approve_for_run(tool, arguments)
    assert driven.check(tool, arguments).reason is None
    driven.read_page()
    again = driven.check(tool, arguments)
    assert (again.reason, again.facts.asked_again, again.facts.can_approve_for_run) == ("policy", "texts", True)
    driven.approve_for_run(tool, arguments)
    assert driven.check(tool, arguments).reason is None


def test_FAIR8_once_a_page_was_read_a_call_of_another_server_is_not_approved_for_the_run(driven):
    driven.read_page()
    approval = driven.ask(driven.pay, PAY, driven.check(driven.pay, PAY))
    row = approval.to_row(driven.team.alice)
    assert (row.can_approve_for_run, row.read_texts) == (False, "outside")
    assert row.target == ServerTarget(
        server="Bank", host="bank.example", method="POST", path="/payments", effect="write"
    )
    messages = Message.objects.count()
    with pytest.raises(Invalid):
        approvals.decide_approval(driven.team.alice, approval.pk, "approved_for_run")
    approval.refresh_from_db()
    assert (approval.decision, Message.objects.count()) == (None, messages)
    approvals.decide_approval(driven.team.alice, approval.pk, "approved")


def test_FAIR8_the_consent_to_one_card_does_not_decide_another_that_was_asked_after_a_page(driven):
    """Both wait at the same time: the answer of the model has a call, a read of a page, and another call."""
    first = driven.ask(driven.pay, PAY, driven.check(driven.pay, PAY))
    same = driven.ask(driven.pay, PAY, driven.check(driven.pay, PAY))
    driven.read_page()
    later = driven.ask(driven.pay, {"query": "EVIL"}, driven.check(driven.pay, {"query": "EVIL"}))
    approvals.decide_approval(driven.team.alice, first.pk, "approved_for_run")
    decisions = [Approval.objects.get(pk=one.pk).decision for one in (first, same, later)]
    assert decisions == ["approved_for_run", "approved_for_run", None]


def test_FAIR8_the_consent_to_messages_holds_only_for_the_same_chat_and_its_readers(driven):
    team, tool = driven.team, registry["send_message"]
    make_agent(team.workspace, team.alice, "Writer", handle="writer")
    carol = add_carol(team)
    room = chats.create_chat(team.alice, team.workspace.id, title="Plans", actor_ids=[team.robin.id])
    to_room, to_writer = ({"text": "Hi", **to} for to in ({"chat_id": str(room.id)}, {"to": "@writer"}))
    driven.approve_for_run(tool, to_room)
    assert driven.check(tool, to_room).reason is None
    elsewhere = driven.check(tool, to_writer)
    assert (elsewhere.reason, elsewhere.facts.asked_again) == ("policy", "target")
    chats.add_participant(team.alice, room.id, carol.id)
    again = driven.check(tool, to_room)
    assert (again.reason, again.facts.asked_again) == ("policy", "target")


def test_FAIR8_the_consent_to_edited_arguments_does_not_hold_for_the_chat_that_the_model_had_named(driven):
    team, tool = driven.team, registry["send_message"]
    room = chats.create_chat(team.alice, team.workspace.id, title="Plans", actor_ids=[team.robin.id])
    arguments = {"text": "Hi", "chat_id": str(room.id)}
    approval = driven.ask(tool, arguments, driven.check(tool, arguments))
    edited = json.dumps({"text": "Hi", "to": "@alice"})
    approvals.decide_approval(team.alice, approval.pk, "approved_for_run", arguments=edited)
    assert driven.check(tool, arguments).reason == "policy"


def test_the_row_names_the_other_chat_and_its_readers_only_to_those_who_read_it(driven):
    """Bob reads the card in the chat, but not the chat that Alice's agent wants to write into."""
    team, tool = driven.team, registry["send_message"]
    chats.add_participant(team.alice, team.chat.id, team.bob.id)
    carol = add_carol(team)
    members = [team.robin.id, carol.id]
    room = chats.create_chat(team.alice, team.workspace.id, title="Layoffs", actor_ids=members)
    arguments = {"text": "Hi", "chat_id": str(room.id)}
    approval = driven.ask(tool, arguments, driven.check(tool, arguments))
    target = approval.to_row(team.alice).target
    assert (target.title, target.workspace_name, target.is_hidden) == ("Layoffs", team.workspace.name, False)
    assert [(reader.name, reader.is_new) for reader in target.readers] == [
        ("Carol", True),
        ("Alice", False),
        ("Robin", False),
    ]
    hidden = approval.to_row(team.bob).target
    assert (hidden.title, hidden.readers, hidden.is_hidden) == ("", [], True)
    editor = make_person("Erin")
    workspaces.join_workspace(editor, team.workspace.id, role="editor", invited_by=team.alice)
    chats.add_participant(team.alice, team.chat.id, editor.id)
    for decision in ("approved", "approved_for_run"):
        with pytest.raises(Forbidden):
            approvals.decide_approval(editor, approval.pk, decision)
        assert Approval.objects.get(pk=approval.pk).decision is None
    approvals.decide_approval(editor, approval.pk, "refused")
    payload = json.dumps(Message.objects.get(pk=approval.pk).payload)
    assert "has_target" in payload
    assert "Layoffs" not in payload
    assert "Carol" not in payload


def test_FAIR8_edited_arguments_keep_the_target_of_the_card_or_get_their_own(driven):
    team, tool = driven.team, registry["send_message"]
    rooms = [chats.create_chat(team.alice, team.workspace.id, title=title, actor_ids=[team.robin.id]) for title in "AB"]
    first, second = ({"text": "Hi", "chat_id": str(room.id)} for room in rooms)
    kept, moved = (driven.ask(tool, first, driven.check(tool, first)) for _ in range(2))
    shown = kept.get_target()
    chats.add_participant(team.alice, rooms[0].id, team.bob.id)
    edited = json.dumps({**first, "text": "Hello"})
    approvals.decide_approval(team.alice, kept.pk, "approved", arguments=edited)
    approvals.decide_approval(team.alice, moved.pk, "approved_for_run", arguments=json.dumps(second))
    decided = find_decided_calls(driven.run_id)
    assert decided[kept.call_id].target == shown  # without Bob, whom Alice has not seen in the card
    target = decided[moved.call_id].target
    assert isinstance(target, ChatTarget)
    assert target.chat_id == rooms[1].id
    assert driven.check(tool, second).reason is None
    assert driven.check(tool, first).facts.asked_again == "target"


def test_edited_arguments_that_go_nowhere_decide_nothing(driven):
    team, tool = driven.team, registry["send_message"]
    arguments = {"text": "Hi", "to": "@alice"}
    approval = driven.ask(tool, arguments, driven.check(tool, arguments))
    with pytest.raises(Invalid) as refused:
        approvals.decide_approval(team.alice, approval.pk, "approved", arguments='{"text": "Hi", "to": "@nobody"}')
    assert (refused.value.code, Approval.objects.get().decision) == ("invalid_arguments", None)


def test_a_new_name_of_a_chat_or_a_reader_does_not_ask_again(driven):
    team, tool = driven.team, registry["send_message"]
    room = chats.create_chat(team.alice, team.workspace.id, title="Plans", actor_ids=[team.robin.id])
    arguments = {"text": "Hi", "chat_id": str(room.id)}
    driven.approve_for_run(tool, arguments)
    Chat.objects.filter(pk=room.pk).update(title="Old plans")
    Actor.objects.filter(pk=team.alice.pk).update(name="Zoe")
    assert driven.check(tool, arguments).reason is None


def test_the_card_says_only_what_has_changed(driven):
    """An approval of an earlier version has no target: that is no other target, and no other texts."""
    tool = registry["send_message"]
    arguments = {"text": "Hi", "to": "@alice"}
    driven.approve_for_run(tool, arguments)
    Approval.objects.update(target=None)
    again = driven.check(tool, arguments)
    assert (again.reason, again.facts.asked_again) == ("policy", None)
    driven.let_carol_join()
    assert driven.check(tool, arguments).facts.asked_again == "texts"


@pytest.mark.parametrize("name", ["carol", "writer"])
def test_a_direct_chat_that_is_named_by_its_id_is_shown_as_its_member(driven, name):
    """The card then names the member and the readers also to an editor who is not in that chat."""
    team, tool = driven.team, registry["send_message"]
    carol = add_carol(team)
    writer = make_agent(team.workspace, team.alice, "Writer", handle="writer")
    other = carol if name == "carol" else writer
    direct, _ = chats.open_direct_chat(team.robin, team.workspace.id, other.id)
    arguments = {"text": "Hi", "chat_id": str(direct.id)}
    approval = driven.ask(tool, arguments, driven.check(tool, arguments))
    target = approval.to_row(team.bob).target
    assert isinstance(target, ChatTarget)
    assert (target.member, target.title, target.is_hidden) == (other.name, "", False)
    expected = {team.robin.id, other.id} | ({team.alice.id} if name == "writer" else set())
    assert {reader.actor_id for reader in target.readers} == expected
    approvals.decide_approval(team.alice, approval.pk, "approved")
