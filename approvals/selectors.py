"""Reads of approvals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import UUID

from django.db.models import Q, QuerySet

from actors.models import Actor
from approvals.models import Approval
from approvals.prepared_queries import DECIDED_APPROVALS
from chats.permissions import list_readable_chats
from chats.services.text_sources import classify_texts_of_others, has_run_texts_from_outside
from events.payloads import ApprovalReason, AskedAgain, CallTarget, ChatTarget
from events.rows import Policy, Role, TextsOfOthers
from tools.interface import Tool, ToolContext
from workspaces.models import Membership

_RANKS = {TextsOfOthers.NONE: 0, TextsOfOthers.OTHERS: 1, TextsOfOthers.OUTSIDE: 2}


def find_highest(classes: Iterable[TextsOfOthers]) -> TextsOfOthers:
    """Return the highest of these classes of texts; none of others if there is none."""
    return max(classes, key=_RANKS.__getitem__, default=TextsOfOthers.NONE)


@dataclass(frozen=True)
class CallFacts:
    """The facts on which a person decides about a call.

    `read_texts`: whose texts the run has read. `target`: where the call goes. `asked_again`: why the consent to all calls of the
    tool in this run does not cover this call; null without such a consent. `can_approve_for_run`: whether such a consent can be
    given: once the run has read texts from outside, not for a tool that writes elsewhere.
    """

    read_texts: TextsOfOthers = TextsOfOthers.NONE
    target: CallTarget | None = None
    asked_again: AskedAgain | None = None
    can_approve_for_run: bool = True


@dataclass(frozen=True)
class Consent:
    """Whether a call may be made. `reason`: why a person is asked first; null: the call may be made. `approved_by`: the person who
    has approved all calls of the tool in this run. `facts`: of a call about which a person is asked."""

    reason: ApprovalReason | None = None
    approved_by: Actor | None = None
    facts: CallFacts = CallFacts()


def find_consent(
    tool: Tool, policy: Policy, ctx: ToolContext, args: Any, *, chat_id: UUID, workspace_id: UUID
) -> Consent:
    """Return whether a run in a chat may make this call without asking, and why not.

    A person is asked if the policy of the tool says so. A person is also asked before each call of a tool that writes, except one
    that `changes_only_notes` or `changes_only_reactions`, if the run may have read anything but its own person's messages: a model
    may follow any text (FAIR8).

    A person may have approved all calls of the tool in this run. That covers this call only if the facts are still those on which
    it was approved: the run has read no texts of a higher class since, and the call has the same target (`is_same_target`).

    Raises `ToolError` if the person of the run may not have this done, so that nobody is asked in vain, and `AppError` if the call
    has no target that may be reached.
    """
    is_write = tool.effect == "write" and not (tool.changes_only_notes or tool.changes_only_reactions)
    if not is_write and policy != Policy.ASK:
        return Consent()
    read_texts = _classify_read_texts(ctx, chat_id=chat_id, workspace_id=workspace_id)
    reason: ApprovalReason | None = "policy" if policy == Policy.ASK else None
    if is_write and read_texts != TextsOfOthers.NONE:
        reason = "outside" if read_texts == TextsOfOthers.OUTSIDE else "others"
    approved = Approval.objects.filter(run_id=ctx.run_id, tool=tool.name, decision="approved_for_run")
    approved = approved.filter(decided_by__isnull=False).select_related("decided_by")
    earlier = list(approved.order_by("decided_at", "pk"))
    if reason is None and not earlier:
        return Consent()
    if reason is not None:
        tool.check_rights(ctx)
    facts = CallFacts(
        read_texts,
        tool.describe_target(ctx, args),
        can_approve_for_run=read_texts != TextsOfOthers.OUTSIDE or not tool.writes_elsewhere,
    )
    for approval in earlier:
        if covers(approval, facts):
            return Consent(approved_by=approval.decided_by)
    if earlier and reason is not None:
        facts = replace(facts, asked_again=_find_change(earlier, facts))
    return Consent(reason, facts=facts)


def read_facts(approval: Approval) -> CallFacts:
    """Return the facts on which a person decides about this approval, without why it is asked again."""
    read_texts, target = TextsOfOthers(approval.read_texts), approval.get_target()
    return CallFacts(read_texts, target, can_approve_for_run=approval.can_approve_for_run)


def covers(approval: Approval, facts: CallFacts) -> bool:
    """Return whether the approval of all calls of a tool in a run holds for a call of this tool with these facts."""
    is_as_known = not _has_risen(approval, facts)
    return is_as_known and is_same_target(approval.get_target(), facts.target) and facts.can_approve_for_run


def is_same_target(first: CallTarget | None, second: CallTarget | None) -> bool:
    """Return whether both are the same place for the person who approves: for a chat, the same chat with the same readers. Names
    do not count, and neither does who reads the chat of the run."""
    if isinstance(first, ChatTarget) and isinstance(second, ChatTarget):
        return _identify(first) == _identify(second)
    return first == second


def _identify(target: ChatTarget) -> tuple[UUID, UUID | None, frozenset[UUID]]:
    """Return the ids of a target. Those of its readers also tell to which member it goes."""
    return target.workspace_id, target.chat_id, frozenset(reader.actor_id for reader in target.readers)


def _has_risen(approval: Approval, facts: CallFacts) -> bool:
    """Return whether the run has read texts of a higher class since the approval."""
    return _RANKS[facts.read_texts] > _RANKS[TextsOfOthers(approval.read_texts)]


def _find_change(earlier: Sequence[Approval], facts: CallFacts) -> AskedAgain | None:
    """Return why none of these approvals covers a call. Null if that is not known: an approval of an earlier version has no
    target."""
    known = [approval for approval in earlier if approval.target is not None or facts.target is None]
    same = [approval for approval in known if is_same_target(approval.get_target(), facts.target)]
    if known and not same:
        return "target"
    return "texts" if all(_has_risen(approval, facts) for approval in same or earlier) else None


def _classify_read_texts(ctx: ToolContext, *, chat_id: UUID, workspace_id: UUID) -> TextsOfOthers:
    """Return whose texts a run in this chat may have read. A sub-agent has always read a text of another: its task, which another
    agent has written. A run that reads nothing of the chat has read what it was given, the results of its own calls, and what
    people have written when they decided about these."""
    # Also for a public agent that does a task here and is not in the chat.
    if ctx.actor.workspace_id != workspace_id or ctx.has_outside_texts:
        return TextsOfOthers.OUTSIDE
    person_id = ctx.on_behalf_of.pk if ctx.on_behalf_of else None
    if ctx.given_texts is not None:
        if has_run_texts_from_outside(chat_id, ctx.run_id):
            return TextsOfOthers.OUTSIDE
        return find_highest([ctx.given_texts, classify_texts_of_deciders(ctx.run_id, person_id)])
    found = classify_texts_of_others(chat_id, agent_id=ctx.actor.pk, workspace_id=workspace_id, person_id=person_id)
    return TextsOfOthers(found or ("others" if ctx.chat_id is None else ""))


def classify_texts_of_deciders(run_id: UUID, person_id: UUID | None) -> TextsOfOthers:
    """Return whose texts a run has read in decisions: those of others, if anybody but this person has answered a question of it, or
    has written a note or other arguments for one of its calls."""
    of_others = Approval.objects.filter(run_id=run_id).exclude(decided_by=person_id)
    has_text = ~Q(answer="") | ~Q(note="") | Q(decided_arguments__isnull=False)
    return TextsOfOthers.OTHERS if of_others.filter(has_text).exists() else TextsOfOthers.NONE


@dataclass(frozen=True)
class DecidedCall:
    """What is to be done with a call that waited. `result`: its status and its text for the model, if it is not to be made;
    null: it is made, with these arguments. `quotes_agents`: the text is a choice, which the model has written itself (SEC9).
    `target`: where the call goes, as the person has approved it."""

    arguments: str
    approved_by: Actor | None
    result: tuple[Literal["ok", "rejected"], str] | None = None
    quotes_agents: bool = False
    target: CallTarget | None = None


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
    return DecidedCall(arguments, approval.decided_by, result, approval.answer in choices, approval.get_target())


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
