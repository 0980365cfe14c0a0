"""Ask people for decisions about the calls of a run."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.conf import settings

from actors.models import Actor
from approvals.hooks import approvals_asked
from approvals.models import Approval
from approvals.selectors import CallFacts
from chats.models import Chat, Message
from common.clock import now
from common.writing import insert
from events.payloads import ApprovalReason, Question, dump_payload
from llm.messages import ToolCall


@dataclass(frozen=True)
class ApprovalRequest:
    """A call that needs a decision: the `reason` why with its `facts` or, if the call asks a person a question, the `question`."""

    call: ToolCall
    reason: ApprovalReason | None = None
    question: Question | None = None
    facts: CallFacts = CallFacts()


def ask_for_approvals(
    chat: Chat, agent: Actor, person: Actor | None, run_id: UUID, requests: Sequence[ApprovalRequest]
) -> list[Message]:
    """Store what a run waits for, and return the messages that ask for the decisions. The caller has locked the chat, and writes
    them together with the state of the run."""
    asked_at = now()
    approvals = [
        Approval(
            chat=chat,
            agent=agent,
            person=person,
            run_id=run_id,
            call_id=request.call.id,
            tool=request.call.name,
            arguments=request.call.arguments,
            reason=request.reason,
            question=request.question.model_dump(mode="json") if request.question else None,
            read_texts=request.facts.read_texts,
            asked_again=request.facts.asked_again,
            can_approve_for_run=request.facts.can_approve_for_run,
            target=request.facts.target and request.facts.target.model_dump(mode="json"),
            asked_at=asked_at,
            expires_at=asked_at + timedelta(hours=settings.APPROVAL_HOURS),
        )
        for request in requests
    ]
    insert(approvals)
    approvals_asked.call(approvals)
    return [
        Message(
            id=approval.id,
            chat=chat,
            author=None,
            type="APPROVAL_ASKED",
            run_id=run_id,
            payload=dump_payload("APPROVAL_ASKED", approval.build_asked_payload()),
            created_at=asked_at,
        )
        for approval in approvals
    ]
