"""The rows of the inspector."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from events.payloads import BudgetPeriod, Stamp
from events.row import Row
from events.rows import ActorRow, RunRow
from llm.sent_requests import SectionKind

Why = Literal["mention", "reply", "message", "hand", "schedule", "task", "retry", "comparison"]
"""Why a run was started: the agent was mentioned, or its message answered; it answers every message; a person or a schedule woke
it; another agent gave it a task; a person had it tried again, or compared two specs."""


class InspectedRunRow(Row):
    """A run of an agent in a list. `person`: whose message woke it, or whom it works for. `seconds`: from its start to its end,
    without the time that it waited for people."""

    run: RunRow
    chat_title: str
    why: Why
    person: ActorRow | None
    seconds: float | None
    cost_micro: int


class TimelineRow(Row):
    """A part of a run: why it woke, a request to a model (`model`), a call of a tool, the run of a sub-agent, the time in which it
    waited for a person, a message or a wake that it read meanwhile, or its end.

    `depth`: 0 for the parts of the run itself (also for the runs of its sub-agents), 1 for the parts of these, and so on. `seconds`
    is null while it lasts, and if no time is known. `request_id`: the ledger entry of a request; `has_request`: what was sent is
    stored. `number` is the number of the step. `name`: of the model, tool or agent; of a wake that was read, its reason.
    """

    kind: Literal["woke", "model", "tool", "sub_agent", "waited", "read", "ended"]
    run_id: UUID
    depth: int
    at: datetime
    seconds: float | None = None
    number: int | None = None
    name: str = ""
    note: str = ""
    person: ActorRow | None = None
    message_id: UUID | None = None
    request_id: UUID | None = None
    has_request: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micro: int | None = None
    error_code: str = ""


class FreeAmountRow(Row):
    """What is left now of a budget that limits the run, in millionths of a dollar or in tokens."""

    scope: str
    period: BudgetPeriod
    free_micro: int | None
    limit_micro: int | None
    free_tokens: int | None
    limit_tokens: int | None


class RunInspectionRow(Row):
    """A run with its cause, its figures and its parts in the order of time.

    `response`: how the agent answers in the chat now; null for one that is not in it. `read_messages`: messages of others that it
    read besides the one that woke it. `queued_seconds`: until it was claimed; `waited_seconds`: for people.
    `first_token_seconds`: of its first request. `calls`: requests to models. `may_read_requests`: of the reader.
    """

    run: RunRow
    agent: ActorRow
    chat_title: str
    why: Why
    person: ActorRow | None
    on_behalf_of: ActorRow | None
    message_id: UUID | None
    excerpt: str
    response: str | None
    read_messages: int
    stamp: Stamp | None
    provider: str
    model: str
    paid_by: str
    payer_name: str
    budgets: list[FreeAmountRow]
    seconds: float | None
    queued_seconds: float | None
    waited_seconds: float
    first_token_seconds: float | None
    calls: int
    input_tokens: int
    output_tokens: int
    cost_micro: int
    runs_ahead: int | None
    may_read_requests: bool
    timeline: list[TimelineRow]


BlankedReason = Literal["prompt_of_public_agent", "memory_of_other_chats"]


class SentCallRow(Row):
    name: str
    arguments: str


class SentBlockRow(Row):
    """A part of a request, in the order in which it was sent. `tokens` are estimated. `blanked`: why the reader does not see the
    text; the number of tokens stays. `provider_fields`: what the provider attached to an answer, and gets back, as JSON."""

    kind: SectionKind | Literal["tool", "message"]
    role: str
    name: str = ""
    text: str
    tokens: int
    calls: list[SentCallRow] = []
    images: int = 0
    provider_fields: str = ""
    parameters: dict[str, Any] | None = None
    blanked: BlankedReason | None = None


class SentRequestRow(Row):
    """A request to a model as it was sent, and its answer. `blocks` null: it is not stored, because it was removed after
    `kept_days` days, or because it was never stored. Secrets are replaced by `***` before a request is stored."""

    id: UUID
    run_id: UUID
    number: int
    attempt: int
    model: str
    provider: str
    parameters: dict[str, Any]
    blocks: list[SentBlockRow] | None
    is_shortened: bool
    kept_days: int
    input_tokens: int
    output_tokens: int
    tokens_estimated: bool
    cost_micro: int | None
    tries: int
    finish: str
    error_code: str
    first_token_seconds: float | None
    seconds: float | None
    answer_text: str
    answer_thinking: str
    answer_calls: list[SentCallRow]


class ViewpointChatRow(Row):
    """A chat of an agent as the agent sees it. `unread`: messages of others after its read cursor, counted up to 100."""

    chat_id: UUID
    title: str
    response: str
    unread: int
    last_read_seq: int
    last_seq: int
    is_working: bool
    draft_by: str | None


class MonthRow(Row):
    """The figures of an agent's runs of the last 30 days, in all chats. `typical_seconds`: the median."""

    runs: int
    failed: int
    typical_seconds: float | None
    cost_micro: int


class ViewpointRow(Row):
    """What an agent sees: its chats that the reader may read, and how many others there are. `last_request_id` and `last_run_id`:
    of its last answer in these chats."""

    chats: list[ViewpointChatRow]
    hidden_chats: int
    month: MonthRow
    last_run_id: UUID | None
    last_request_id: UUID | None
