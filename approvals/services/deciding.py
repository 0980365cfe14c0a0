"""Decide about calls and questions: by a person, by the end of the time, or by the end of the run."""

import json
from collections.abc import Sequence
from typing import Any, Literal
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext

from actors.models import Actor
from approvals.hooks import approvals_decided
from approvals.models import Approval
from approvals.permissions import ApprovalVerb, get_approval_for
from approvals.selectors import covers, is_same_target, read_facts
from chats import services as chats
from chats.models import Message
from common.clock import now
from common.errors import AppError, Code, Conflict, Forbidden, Invalid
from common.text import to_storable
from events import audit
from events.payloads import MAX_ANSWER, ApprovalDecision, CallTarget, Question, dump_payload
from tools.interface import InvalidArguments, Tool, ToolContext, ToolError
from tools.selectors import get_tools

PersonDecision = Literal["approved", "approved_for_run", "refused", "answered"]
"""What a person may decide."""
EXPIRED_PER_SWEEP = 100


@transaction.atomic
def decide_approval(
    actor: Actor,
    approval_id: UUID,
    decision: PersonDecision,
    *,
    arguments: str | None = None,
    note: str = "",
    choice: int | None = None,
    answer: str = "",
) -> Approval:
    """Decide about a call, or answer a question. Once nothing of the run is undecided, the run is queued again.

    The person whom the run works for and editors who may read the chat may do so. `arguments` replace those of an approved call;
    `note` goes to the agent; a question is answered by the index of a `choice` or by a text. `approved_for_run` also approves
    other calls of this tool in this run, those that wait and later ones, as far as it `covers` them. The same decision again by
    the same person changes nothing.

    Raises `NotFound`, `Forbidden` (also for approving a call whose target is hidden from the actor), `Invalid` (`invalid_arguments`
    with the problems, if the tool would refuse the arguments), and `Conflict` (`approval_decided`) if the approval is decided
    already or its time is over.
    """
    is_approved = decision in ("approved", "approved_for_run")
    edited_target: CallTarget | None = None
    if is_approved and arguments is not None:
        # Before the chat is locked: checking the schema that a server has sent may take half a second.
        edited_target = _check_arguments(get_approval_for(actor, approval_id, ApprovalVerb.DECIDE), arguments)
    approval = get_approval_for(actor, approval_id, ApprovalVerb.DECIDE, lock=True)
    if approval.decision is not None or approval.expires_at <= now():
        _require_same_decision(approval, actor, decision, arguments=arguments, note=note, choice=choice, answer=answer)
        return approval
    allowed = ("answered", "refused") if approval.question is not None else ("approved", "approved_for_run", "refused")
    if decision not in allowed:
        raise Invalid("A question is answered or refused, a call is approved or refused.")
    if decision == "approved_for_run" and not approval.can_approve_for_run:
        raise Invalid(
            gettext("The agent has read texts from outside, so this call needs its own approval."),
            hints=["Send `approved`."],
        )
    decided = [approval]
    if decision == "answered":
        approval.answer = _read_answer(Question.model_validate(approval.question), choice, answer)
    elif is_approved and arguments is not None and arguments != approval.arguments:
        approval.decided_arguments = arguments
        if edited_target is not None:
            approval.target = edited_target.model_dump(mode="json")
    if is_approved and approval.is_target_hidden(actor):
        raise Forbidden(
            gettext("You cannot approve a call into a chat that you do not read. You can refuse it."),
            hints=["Send `refused`."],
        )
    approval.note = to_storable(note.strip())
    if decision == "approved_for_run":
        others = Approval.objects.filter(
            run_id=approval.run_id, tool=approval.tool, decision=None, question__isnull=True
        )
        others = others.exclude(pk=approval.pk).select_related("agent", "chat").order_by("pk")
        decided += [other for other in others if covers(approval, read_facts(other))]
    chats.save_changes(approval.chat_id, _decide(decided, decision, by=actor))
    audit.record(
        actor,
        f"approval.{decision}",
        workspace_id=approval.chat.workspace_id,
        object_id=approval.id,
        tool=approval.tool,
        edited=approval.decided_arguments is not None,
    )
    return approval


def expire_approvals() -> None:
    """Decide about the approvals whose time is over: the calls are not made. Several processes may do so at the same time."""
    overdue = Approval.objects.filter(decision=None, expires_at__lte=now()).order_by("expires_at")
    for run_id, chat_id in dict.fromkeys(overdue.values_list("run_id", "chat_id")[:EXPIRED_PER_SWEEP]):
        with transaction.atomic():
            chats.lock_chat(chat_id)
            expired = list(overdue.filter(run_id=run_id).select_related("agent", "chat").order_by("pk"))
            if expired:
                chats.save_changes(chat_id, _decide(expired, "expired"))


def close_approvals(run_id: UUID) -> list[chats.RowChange]:
    """Close what a run waits for, because it ends. Return the changes of the locked chat, which the caller writes."""
    waiting = Approval.objects.filter(run_id=run_id, decision=None)
    return _decide(list(waiting.select_related("agent", "chat").order_by("pk")), "stopped")


def _decide(
    approvals: Sequence[Approval], decision: ApprovalDecision, *, by: Actor | None = None
) -> list[chats.RowChange]:
    """Write a decision about approvals of one run, and return the changes of the locked chat: messages, and those of the
    listeners. Raises `Conflict` if one is decided already."""
    if not approvals:
        return []
    decided_at = now()
    messages: list[chats.RowChange] = []
    metadata = dict(Message.objects.filter(pk__in=[row.id for row in approvals]).values_list("pk", "metadata"))
    for approval in approvals:
        approval.decision, approval.decided_by, approval.decided_at = decision, by, decided_at
        names = ("decision", "decided_by", "decided_at", "decided_arguments", "target", "note", "answer")
        values = {name: getattr(approval, name) for name in names}
        if not Approval.objects.filter(pk=approval.pk, decision=None).update(**values):
            raise _build_decided_error(Approval.objects.select_related("decided_by").get(pk=approval.pk))
        message = Message(
            chat_id=approval.chat_id,
            author=None,
            type="APPROVAL_DECIDED",
            run_id=approval.run_id,
            metadata=metadata.get(approval.id),
            payload=dump_payload("APPROVAL_DECIDED", approval.build_decided_payload()),
            created_at=decided_at,
        )
        messages.append(message)
    return [*messages, *approvals_decided.call(approvals)]


def _check_arguments(approval: Approval, arguments: str) -> CallTarget | None:
    """Return where a call with edited arguments goes; null if it goes where the card says. Raises `Invalid` for arguments that the
    tool would refuse. The toolbox checks them again before the call."""
    if approval.decision is not None or approval.expires_at <= now() or arguments == approval.arguments:
        return None  # unchanged, or too late: then `decide_approval` raises `Conflict`
    chat, agent = approval.chat, approval.agent
    own_workspace_id = chat.workspace_id if agent.workspace_id == chat.workspace_id else None
    tool = get_tools(own_workspace_id, [approval.tool]).get(approval.tool)
    try:
        if tool is not None:
            return _find_edited_target(approval, tool, tool.parse_arguments(arguments))
        if not isinstance(json.loads(arguments), dict):
            # The tool has been removed, so the call will be refused. Only the form of the arguments is checked.
            raise ToolError("The arguments are not a JSON object.")
        return None
    except (ToolError, AppError, ValueError, RecursionError) as error:
        hints = error.problems if isinstance(error, InvalidArguments) else [str(error)]
        text = gettext("The tool does not accept these arguments.")
        raise Invalid(text, code=Code.INVALID_ARGUMENTS, hints=hints) from error


def _find_edited_target(approval: Approval, tool: Tool, args: Any) -> CallTarget | None:
    """Return where a call with these edited arguments goes; null if the edit does not change that. Then the target of the card
    holds: its readers are those whom the person has seen. Raises `ToolError`, `AppError`."""
    if approval.target is None:
        return None
    ctx = ToolContext(
        approval.agent,
        approval.person,
        approval.chat_id,
        approval.run_id,
        approval.call_id,
        workspace_id=approval.chat.workspace_id,
        shown_in_chat_id=approval.chat_id,
    )
    target = tool.describe_target(ctx, args)
    try:
        unedited = tool.describe_target(ctx, tool.parse_arguments(approval.arguments))
    except (ToolError, AppError):
        return target  # what the model has named is gone
    return None if is_same_target(target, unedited) else target


def _require_same_decision(
    approval: Approval,
    actor: Actor,
    decision: PersonDecision,
    *,
    arguments: str | None,
    note: str,
    choice: int | None,
    answer: str,
) -> None:
    """Raise `Conflict` unless the actor has decided the approval in exactly this way, and `Invalid` for no answer to it."""
    is_edited = decision in ("approved", "approved_for_run") and arguments not in (None, approval.arguments)
    values: dict[str, Any] = {
        "decision": decision,
        "decided_by": actor,
        "note": to_storable(note.strip()),
        "decided_arguments": arguments if is_edited else None,
    }
    if approval.question is not None and decision == "answered":
        values["answer"] = _read_answer(Question.model_validate(approval.question), choice, answer)
    if any(getattr(approval, name) != value for name, value in values.items()):
        raise _build_decided_error(approval)


def _read_answer(question: Question, choice: int | None, answer: str) -> str:
    """Return the answer to a question. Raises `Invalid` unless it is one of its choices, or an allowed text."""
    answer = to_storable(answer.strip())
    if choice is not None and not answer and choice < len(question.choices):
        return question.choices[choice].label
    if choice is None and answer and question.allow_free_answer:
        return answer[:MAX_ANSWER]
    raise Invalid(
        gettext("This is not an answer to the question."),
        hints=["Send `choice`, the index of a choice, or `answer`, a text, if the question allows it."],
    )


def _build_decided_error(approval: Approval) -> Conflict:
    """Return the error for an approval that is decided, with who decided, or whose time is over."""
    data = {"decision": approval.decision or "expired"}
    if approval.decided_by is None:
        return Conflict(gettext("It is too late to decide about this."), code=Code.APPROVAL_DECIDED, data=data)
    text = gettext("%(name)s has decided already.") % {"name": approval.decided_by.name}
    return Conflict(text, code=Code.APPROVAL_DECIDED, data={**data, "name": approval.decided_by.name})
