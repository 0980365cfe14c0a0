"""The payload of each type of message. A payload is validated when it is built, before it is written."""

from typing import Any, Literal, get_args
from uuid import UUID

from pydantic import ConfigDict, Field

from common.request_types import NOT_BLANK
from events.row import Row

MAX_TEXT = 200_000
"""Characters of the text of a message."""

MessageWake = Literal["auto", "nobody"]
"""Whether a message wakes the agents that it addresses (`auto`), or no agent."""


def _leave_out_null_defaults(schema: dict[str, Any]) -> None:
    """Remove fields whose default is null from the required ones, because `dump_payload` does not store them."""
    fields = schema["properties"]
    if required := [name for name in schema.get("required", ()) if fields[name].get("default", ...) is not None]:
        schema["required"] = required
    else:
        schema.pop("required", None)


class Payload(Row):
    """The content of a message. A field that is null is left out."""

    model_config = ConfigDict(json_schema_extra=_leave_out_null_defaults)


PaidBy = Literal["workspace", "system", "demo"]
"""Whose key pays for a request to a model."""


class Stamp(Payload):
    """The text that answered: a version (`v7`), or the n-th apply of a draft in this chat (`r3`) and by whom.

    `compared` is the id of the comparison that the answer is one `side` of.
    """

    spec_id: UUID
    version: int | None = None
    draft_apply: int | None = None
    draft_by: str | None = None
    model: str = ""
    provider: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_micro: int | None = None
    paid_by: PaidBy | None = None
    compared: UUID | None = None
    side: Literal["production", "draft"] | None = None


class TextPayload(Payload):
    """A text of a person or an agent.

    `incomplete`: the model's stream broke off, or the run was stopped, after this much. `answers` is the message that
    started the run.
    """

    text: str = Field(max_length=MAX_TEXT)
    mentions: list[UUID] = []
    wake: MessageWake = "auto"
    stamp: Stamp | None = None
    incomplete: bool = False
    greeting: bool = False
    answers: UUID | None = None


FileKind = Literal["image", "pdf", "document", "slides", "sheet", "text", "other"]
FileState = Literal["waiting", "ready", "failed"]


class FilePayload(Payload):
    """A file that was shared in the chat; its id is the message's. `size` is in bytes.

    `state` is that of reading its text, its size in pixels and its number of pages. `answers` is the message that started the
    run whose agent wrote the file.
    """

    file_id: UUID
    name: str
    file_kind: FileKind
    content_type: str
    size: int
    width: int | None = None
    height: int | None = None
    pages: int | None = None
    has_thumbnail: bool = False
    state: FileState
    is_deleted: bool = False
    wake: Literal["auto", "nobody"] = "auto"
    answers: UUID | None = None


class ThinkingPayload(Payload):
    """The reasoning that a model wrote before its answer."""

    text: str
    seconds: float | None = None


class ToolCallPayload(Payload):
    """One call as the model made it, in the shape of OpenAI's `tool_calls`. `arguments` is the model's own JSON text."""

    call_id: str
    name: str
    arguments: str
    step: int
    stamp: Stamp | None = None


class WebPageData(Payload):
    """A part of a web page: the characters from `start` to `end` of `total`, as Markdown.

    Unknown fields are empty. `is_cut`: the page is longer than the part that was fetched.
    """

    kind: Literal["web_page"] = "web_page"
    title: str
    url: str
    site: str = ""
    published: str = ""
    text: str
    start: int
    end: int
    total: int
    is_cut: bool = False


class SearchHit(Payload):
    """A page that a search found. `text` is an excerpt."""

    title: str
    url: str
    text: str = ""
    published: str = ""


class SearchResultsData(Payload):
    """The pages that a search of the web found."""

    kind: Literal["search_results"] = "search_results"
    query: str
    results: list[SearchHit]


ToolData = WebPageData | SearchResultsData
"""The data of a tool result that the web app draws in its place."""


class ToolResponsePayload(Payload):
    """The result of a tool call. The model reads `text`; the web app shows `data` instead, if there is any."""

    tool_call_id: str
    name: str
    status: Literal["ok", "error", "rejected", "interrupted", "timeout", "stopped"]
    text: str
    seconds: float | None = None
    data: ToolData | None = None


class SystemPayload(Payload):
    """An event in the chat: its actor, action and object.

    The client resolves names from ids. The names are stored as well, because a person may leave. `via` is the name of the
    agent that acted for the actor. A model writes `summary` later.

    For an applied draft: `spec_id` is its text, `before_id` the text that answered in the chat until then,
    `lines_changed` the number of lines of the prompt that differ, `touches` the changed fields.
    """

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
    # When a person joins: the agent that answers only when mentioned from now on.
    wake_id: UUID | None = None
    wake_name: str = ""
    summary: str = ""
    summary_state: Literal["pending", "ready", "failed"] | None = None
    spec_id: UUID | None = None
    before_id: UUID | None = None
    lines_changed: int | None = None
    touches: list[str] = []


class ComparisonSide(Payload):
    """One of the two texts that answer in a comparison. `earlier`: runs that failed or were stopped, and were retried."""

    run_id: UUID
    spec_id: UUID
    version: int | None = None
    draft_apply: int | None = None
    draft_by: str | None = None
    earlier: list[UUID] = []


VoteChoice = Literal["production", "equal", "draft"]


class Vote(Payload):
    actor_id: UUID
    choice: VoteChoice


class ComparisonPayload(Payload):
    """A question that production and the draft answer side by side. The message is the comparison. `ended`: voting is closed."""

    actor_id: UUID
    actor_name: str
    target_id: UUID
    target_name: str
    text: str = Field(max_length=MAX_TEXT)
    draft_id: UUID
    production: ComparisonSide
    draft: ComparisonSide
    votes: list[Vote] = []
    ended: bool = False


SystemMessageType = Literal[
    # A participant was added to the chat, and left it or was removed. Stored rows have these names.
    "MEMBER_JOINED",
    "MEMBER_LEFT",
    "LOCK_ACQUIRED",
    "LOCK_RELEASED",
    "DRAFT_STARTED",
    "DRAFT_APPLIED",
    "DRAFT_DISCARDED",
    "DRAFT_MERGED",
    "SPEC_SAVED",
    "SUGGESTION_CREATED",
    "SUGGESTION_ACCEPTED",
    "SUGGESTION_REJECTED",
    "SUGGESTION_WITHDRAWN",
    "RUN_FAILED",
    "RUN_STOPPED",
]

PAYLOADS: dict[str, type[Payload]] = {
    "TEXT_MESSAGE": TextPayload,
    "FILE_MESSAGE": FilePayload,
    "THINKING": ThinkingPayload,
    "TOOL_CALL": ToolCallPayload,
    "TOOL_RESPONSE": ToolResponsePayload,
    "COMPARISON": ComparisonPayload,
    **dict.fromkeys(get_args(SystemMessageType), SystemPayload),
}
"""The payload class of each type of message."""


def dump_payload(type_: str, payload: Payload) -> dict[str, Any]:
    """Return the payload of a message of this type as it is stored. Raises `TypeError` for a payload of another type."""
    if not isinstance(payload, PAYLOADS[type_]):
        raise TypeError(f"{type(payload).__name__} is not the payload of {type_}.")
    return payload.model_dump(mode="json", exclude_none=True)


MESSAGE_TEXT: dict[str, Any] = {"minLength": 1, "maxLength": MAX_TEXT, "pattern": NOT_BLANK}
"""The JSON schema of a message's text. A longer text is refused with 413."""
