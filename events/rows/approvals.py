"""The row of an approval."""

from datetime import datetime
from uuid import UUID

from events.payloads import ApprovalDecision, ApprovalReason, AskedAgain, CallTarget, Question, ReadTexts
from events.row import Row
from events.rows.people import ActorRow


class ApprovalRow(Row):
    """A call of a tool that waits for a person, or a question of an agent. `decision` is null as long as it waits.

    The message with the same id shows it in its chat. `arguments` are the model's own JSON text, `decided_arguments` those of the
    decision, if they were edited. `read_texts`: whose texts the run had read when it asked. `target`: where the call goes, or
    null.
    """

    id: UUID
    workspace_id: UUID
    chat_id: UUID
    run_id: UUID
    agent: ActorRow
    person_id: UUID | None
    call_id: str
    tool: str
    arguments: str
    reason: ApprovalReason | None
    question: Question | None
    read_texts: ReadTexts
    asked_again: AskedAgain | None
    can_approve_for_run: bool
    target: CallTarget | None
    asked_at: datetime
    expires_at: datetime
    decision: ApprovalDecision | None
    decided_by: ActorRow | None
    decided_at: datetime | None
    decided_arguments: str | None
    note: str
    answer: str
