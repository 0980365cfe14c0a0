"""The bodies of requests about agents, and the rows that only their answers have."""

from typing import Annotated
from uuid import UUID

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from agents.specs.content import MAX_PROMPT, SpecContent, ToolName
from agents.specs.templates import AGENT_TEMPLATES, TEAM_TEMPLATES
from common.request_types import MAX_NUMBER, Handle, Language, Name, Revision, Version
from common.rest import Body
from events.payloads import VoteChoice
from events.rows import AgentRow, Avatar, NewAvatar, Row


class NewAgentBody(Body):
    """Fields that are left out come from `template`. With `open_chat`, the agent greets the reader in a new chat."""

    name: Name
    description: str = Field(default="", max_length=2000)
    handle: Handle | None = None
    template: str = Field(default="blank", json_schema_extra={"enum": list(AGENT_TEMPLATES)})
    prompt: str | None = Field(default=None, max_length=MAX_PROMPT)
    tools: Annotated[list[ToolName], Field(max_length=64, json_schema_extra={"uniqueItems": True})] | None = None
    avatar: NewAvatar | None = None
    open_chat: bool = False


class NewAgentRow(AgentRow):
    """The new agent, and the chat in which it greeted the reader if `open_chat` was set."""

    chat_id: UUID | None = None


class AgentBody(Body):
    name: Name | None = None
    description: str | None = Field(default=None, max_length=2000)
    avatar: NewAvatar | None = None
    handle: Handle | None = None
    accepts_tasks: bool | None = None
    role: str | None = Field(default=None, max_length=80)
    revision: Revision


class ParentBody(Body):
    """`parent_id`: the agent that it reports to from now on; null: none."""

    parent_id: UUID | None


REVISION_WITHOUT_CONTENT: JsonDict = {
    "required": ["revision"],
    "properties": {"revision": {"type": "integer"}, "content": {"type": "null"}},
}
"""The schema of a body with `revision` and without `content`, which is refused."""


class DraftBody(Body):
    """Without `revision`, acquire the lock, and start a draft if there is none. With `revision`, write `content` on top of it."""

    model_config = ConfigDict(json_schema_extra={"not": REVISION_WITHOUT_CONTENT})

    content: SpecContent | None = None
    revision: Revision | None = None
    caret: int | None = Field(default=None, ge=0, le=MAX_NUMBER)


class RevisionBody(Body):
    revision: Revision


class HandOverBody(RevisionBody):
    """`to` is a person who has requested the draft."""

    to: UUID


class LockWaiterBody(Body):
    """`wants_notice`: notify the reader when the lock of the draft is free."""

    wants_notice: bool


class RebaseBody(Body):
    """With `merge_production`, merge production's changes into the draft. Without it, only the base changes: the reader has merged
    by hand."""

    revision: Revision
    merge_production: bool = False


class SaveBody(Body):
    """`unused_suggestions`: the suggestions that were merged into the draft and are not used in it (`GET
    .../draft/suggestions`). If others are not used, the draft is not saved."""

    revision: Revision
    base_version: Version
    message: str = Field(default="", max_length=400)
    unused_suggestions: list[UUID] = Field(default=[], max_length=100)


class AgentTemplateRow(Row):
    key: str = Field(json_schema_extra={"enum": list(AGENT_TEMPLATES)})
    name: str
    description: str
    prompt: str
    greeting: str
    tools: list[str]
    avatar: Avatar


class AgentTemplatesQuery(Body):
    language: Language = "en"


class TeamMemberRow(Row):
    """An agent of a team that is not created yet."""

    name: str
    role: str
    avatar: Avatar


class TeamTemplateRow(Row):
    key: str = Field(json_schema_extra={"enum": list(TEAM_TEMPLATES)})
    name: str
    description: str
    lead: TeamMemberRow
    members: list[TeamMemberRow]


class NewTeamBody(Body):
    template: str = Field(json_schema_extra={"enum": list(TEAM_TEMPLATES)})


class NewTeamRow(Row):
    """The agents of a new team, and the chat in which its lead has greeted the reader."""

    lead: AgentRow
    members: list[AgentRow]
    chat_id: UUID


class VoteBody(Body):
    """`choice`: null withdraws the vote."""

    choice: VoteChoice | None
