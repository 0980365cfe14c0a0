"""What a message carries, per type (S0.5): the set of types is closed, and each payload is checked before it is written."""

from typing import Any, Literal
from uuid import UUID

from pydantic import Field, TypeAdapter

from events.rows import Row, Stamp

MAX_TEXT = 200_000


class Text(Row):
    """Said by a person or an agent. `incomplete`: the model's stream broke off, or the run was stopped, after this much."""

    text: str = Field(max_length=MAX_TEXT)
    mentions: list[UUID] = []
    wake: Literal["auto", "nobody"] = "auto"
    stamp: Stamp | None = None
    incomplete: bool = False
    greeting: bool = False


class Thinking(Row):
    text: str
    seconds: float | None = None


class ToolCall(Row):
    """One call as the model made it, in the shape of OpenAI's `tool_calls`; `arguments` is the model's own JSON text."""

    call_id: str
    name: str
    arguments: str
    step: int
    stamp: Stamp | None = None


class ToolResponse(Row):
    """What came of a call. `status` says how it ended; `text` is what the model reads."""

    tool_call_id: str
    name: str
    status: Literal["ok", "error", "rejected", "interrupted", "timeout", "stopped"]
    text: str
    seconds: float | None = None


class About(Row):
    """A system line: who did what to whom. Names are resolved by the client from the ids it knows; they are kept here
    as well, so that the line still reads after somebody left. `via` is how, when it was not by their own hand: an agent's
    name that did it for them. `summary` comes later than its line, by a model."""

    actor_id: UUID | None = None
    actor_name: str = ""
    target_id: UUID | None = None
    target_name: str = ""
    version: int | None = None
    draft_apply: int | None = None
    note: str = ""
    run_id: UUID | None = None
    code: str | None = None
    via: str = ""
    suggestion_id: UUID | None = None
    merge_id: UUID | None = None
    authors: list[str] = []
    summary: str = ""
    summary_state: Literal["pending", "ready", "failed"] | None = None


class Side(Row):
    """One of the two who answer in a comparison. `earlier`: runs that failed or were stopped, and were asked again."""

    run_id: UUID
    spec_id: UUID
    version: int | None = None
    draft_apply: int | None = None
    draft_by: str | None = None
    earlier: list[UUID] = []


class Vote(Row):
    actor_id: UUID
    choice: Literal["production", "equal", "draft"]


class Comparison(Row):
    """A message that production and the draft answer side by side (B7); its id is the message's. `ended`: the draft is over,
    nobody votes any more."""

    actor_id: UUID
    actor_name: str
    target_id: UUID
    target_name: str
    text: str = Field(max_length=MAX_TEXT)
    draft_id: UUID
    production: Side
    draft: Side
    votes: list[Vote] = []
    ended: bool = False


PAYLOADS: dict[str, type[Row]] = {
    "TEXT_MESSAGE": Text,
    "THINKING": Thinking,
    "TOOL_CALL": ToolCall,
    "TOOL_RESPONSE": ToolResponse,
    "MEMBER_JOINED": About,
    "MEMBER_LEFT": About,
    "LOCK_ACQUIRED": About,
    "LOCK_RELEASED": About,
    "DRAFT_STARTED": About,
    "DRAFT_APPLIED": About,
    "DRAFT_DISCARDED": About,
    "DRAFT_MERGED": About,
    "SPEC_SAVED": About,
    "SUGGESTION_CREATED": About,
    "SUGGESTION_ACCEPTED": About,
    "SUGGESTION_REJECTED": About,
    "SUGGESTION_WITHDRAWN": About,
    "COMPARISON": Comparison,
    "RUN_FAILED": About,
    "RUN_STOPPED": About,
}

any_payload: TypeAdapter[Any] = TypeAdapter(Text | Thinking | ToolCall | ToolResponse | About | Comparison)


def checked_payload(type_: str, payload: dict[str, Any]) -> dict[str, Any]:
    """The payload as it is stored. Raises `pydantic.ValidationError` (a bug on our side) or `KeyError` for an unknown type."""
    return PAYLOADS[type_].model_validate(payload).model_dump(mode="json", exclude_none=True)
