"""What the requests about agents may say, and the answers that are theirs alone."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from agents.content import MAX_PROMPT, SpecContent
from common.paging import PageQuery
from common.rest import Body
from events.rows import AgentRow, Row, RunRow


class NewAgentBody(Body):
    """`template` gives prompt, tools and greeting; what is said beyond it wins. `open_chat`: it says hello in a chat."""

    name: str
    description: str = Field(default="", max_length=2000)
    handle: str | None = None
    template: str = "blank"
    prompt: str | None = Field(default=None, max_length=MAX_PROMPT)
    tools: list[str] | None = Field(default=None, max_length=64)
    open_chat: bool = False


class NewAgentRow(AgentRow):
    """The new agent, and the chat in which it has said hello when one was asked for."""

    chat_id: UUID | None = None


class AgentBody(Body):
    name: str | None = None
    description: str | None = Field(default=None, max_length=2000)
    revision: int


class DraftBody(Body):
    """`revision` null begins to write (or takes a free draft); a number writes on top of that revision."""

    content: SpecContent | None = None
    revision: int | None = None
    caret: int | None = Field(default=None, ge=0)


class RevisionBody(Body):
    revision: int


class WishBody(Body):
    """Whether the reader is to be told when the draft is free."""

    is_waiting: bool


class RebaseBody(Body):
    """`merge`: bring what production changed meanwhile into the text; else it was brought in by hand."""

    revision: int
    merge: bool = False


class SaveBody(Body):
    revision: int
    base_version: int
    message: str = Field(default="", max_length=400)


class ComparisonBody(Body):
    """`id` is made by the client; asking the same again changes nothing. `revision` is of the draft, and what is applied;
    null: compare what is applied, whatever has been written since."""

    id: UUID
    text: str
    revision: int | None = None


class VoteBody(Body):
    """Null takes the vote back."""

    choice: Literal["production", "equal", "draft"] | None


class TemplateRow(Row):
    key: str
    name: str
    description: str
    prompt: str
    greeting: str
    tools: list[str]


class TemplatesQuery(Body):
    language: Literal["en", "zh-hant", "zh-hans"] = "en"


class OfferRow(Row):
    """A model that can be had here without a key of one's own."""

    provider: Literal["demo", "openai", "anthropic", "gemini", "openrouter", "openai_compatible"]
    api_base: str | None = None
    label: str
    models: list[str]


class TestedRow(Row):
    """What came of asking a model one short question."""

    ok: bool
    message: str
    seconds: float


class StepRow(Row):
    """One step of a run: a model's answer, or a tool call."""

    number: int
    index: int
    kind: Literal["llm", "tool"]
    state: Literal["started", "done"]
    name: str
    started_at: datetime
    ended_at: datetime | None
    result: dict[str, Any]


class RunDetailRow(Row):
    run: RunRow
    steps: list[StepRow]


class WakesBody(Body):
    text: str
    reply_to: UUID | None = None


class WakesRow(Row):
    """What a message would do to one agent of the room."""

    agent_id: UUID
    effect: Literal["wakes", "steers", "cannot"]
    reason: str | None = None


class RunsQuery(PageQuery):
    state: Literal["active", "all"] = "active"
