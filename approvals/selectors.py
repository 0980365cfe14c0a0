"""Reads of approvals."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.db.models import Q, QuerySet

from actors.models import Actor
from approvals.models import Approval
from approvals.prepared_queries import DECIDED_APPROVALS
from chats.permissions import list_readable_chats
from chats.services.text_sources import classify_texts_of_others
from events.payloads import ApprovalReason
from events.rows import Policy, Role
from tools.interface import Tool, ToolContext
from workspaces.models import Membership


@dataclass(frozen=True)
class Consent:
    """Whether a call may be made. `reason`: why a person is asked first; null: the call may be made. `approved_by`: the person who
    has approved all calls of the tool in this run."""

    reason: ApprovalReason | None = None
    approved_by: Actor | None = None


def find_consent(tool: Tool, policy: Policy, ctx: ToolContext, *, chat_id: UUID, workspace_id: UUID) -> Consent:
    """Return whether a run in a chat may call this tool without asking, and why not.

    A person is asked if the policy of the tool says so. A person is also asked before each call of a tool that writes, except one
    that `changes_only_notes`, if the run may have read anything but its own person's messages: a model may follow any text (FAIR8).
    A sub-agent has always read such a text: its task, which another agent has written. Raises `ToolError` if the person of the run
    may not have this done, so that nobody is asked in vain.
    """
    approved = Approval.objects.filter(run_id=ctx.run_id, tool=tool.name, decision="approved_for_run")
    if found := approved.filter(decided_by__isnull=False).select_related("decided_by").first():
        return Consent(approved_by=found.decided_by)
    reason: ApprovalReason | None = "policy" if policy == Policy.ASK else None
    if tool.effect == "write" and not tool.changes_only_notes:
        person_id = ctx.on_behalf_of.pk if ctx.on_behalf_of else None
        texts_of_others = classify_texts_of_others(
            chat_id, agent_id=ctx.actor.pk, workspace_id=workspace_id, person_id=person_id
        )
        if ctx.actor.workspace_id != workspace_id or ctx.has_outside_texts:
            texts_of_others = "outside"  # also for a public agent that does a task here and is not in the chat
        elif ctx.chat_id is None:  # a sub-agent, whose task is a text of another agent
            texts_of_others = texts_of_others or "others"
        reason = texts_of_others or reason
    if reason is not None:
        tool.check_rights(ctx)
    return Consent(reason)


@dataclass(frozen=True)
class DecidedCall:
    """What is to be done with a call that waited. `result`: its status and its text for the model, if it is not to be made;
    null: it is made, with these arguments. `quotes_agents`: the text is a choice, which the model has written itself (SEC9)."""

    arguments: str
    approved_by: Actor | None
    result: tuple[Literal["ok", "rejected"], str] | None = None
    quotes_agents: bool = False


def find_decided_calls(run_id: UUID) -> dict[str, DecidedCall]:
    """Return the decided calls of a run, by the id of the call."""
    return {approval.call_id: _build_decided_call(approval) for approval in DECIDED_APPROVALS.all(run_id)}


def _build_decided_call(approval: Approval) -> DecidedCall:
    arguments = approval.arguments if approval.decided_arguments is None else approval.decided_arguments
    name = approval.decided_by.name if approval.decided_by else "A person"
    note = f" They say: {approval.note}" if approval.note else ""
    result: tuple[Literal["ok", "rejected"], str] | None = None
    match approval.decision:
        case "answered":
            result = "ok", f"{name} answered: {approval.answer}"
        case "refused" if approval.question:
            result = "rejected", f"{name} does not answer this question.{note}"
        case "refused":
            result = "rejected", f"{name} refused this call, so it was not made.{note}"
        case "expired" if approval.question:
            result = "rejected", "Nobody answered in time."
        case "expired" | "stopped":
            result = "rejected", "Nobody approved this call in time, so it was not made."
    choices = {choice["label"] for choice in approval.question["choices"]} if approval.question else set()
    return DecidedCall(arguments, approval.decided_by, result, quotes_agents=approval.answer in choices)


def find_waiting_calls(call_ids: Iterable[str]) -> set[str]:
    """Return those of these calls that wait for a decision."""
    waiting = Approval.objects.filter(call_id__in=list(call_ids), decision=None)
    return set(waiting.values_list("call_id", flat=True))


def list_asked_people(approval: Approval) -> list[UUID]:
    """Return the people who are asked for a decision: the person whom the run works for; in a chat between agents the editors,
    who read it."""
    if approval.chat.is_between_agents:
        editors = Membership.objects.filter(workspace=approval.chat.workspace_id, role=Role.EDITOR)
        return list(editors.values_list("actor_id", flat=True))
    return [approval.person_id] if approval.person_id else []


def list_waiting_approvals(actor: Actor) -> QuerySet[Approval]:
    """Return the approvals that wait for a decision which the actor may make, in the chats that they may read."""
    chats = list_readable_chats(actor).values("pk")
    may_decide = Q(person=actor) | Q(
        chat__workspace__memberships__actor=actor, chat__workspace__memberships__role=Role.EDITOR
    )
    waiting = Approval.objects.filter(may_decide, chat__in=chats, decision=None).distinct()
    return waiting.select_related("chat", "agent", "decided_by")
