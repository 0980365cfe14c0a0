"""The bodies of requests about agents, and the rows that only their answers have."""

from typing import Annotated
from uuid import UUID

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from agents.specs.content import MAX_PROMPT, SpecContent, ToolName
from agents.specs.templates import AGENT_TEMPLATES, TEAM_TEMPLATES
from common.paging import PageQuery
from common.request_types import MAX_NUMBER, NOT_BLANK, Handle, Language, Name, Revision, Version
from common.rest import Body
from events.payloads import VoteChoice
from events.rows import AgentRow, Avatar, NewAvatar, Row, ThumbValue

Question = Annotated[str, Field(max_length=200, pattern=NOT_BLANK)]


class NewAgentBody(Body):
    """Fields that are left out come from `template`."""

    name: Name
    """The name that people see."""
    description: str = Field(default="", max_length=2000)
    """What the agent is for. Other agents read it, too."""
    handle: Handle | None = None
    """What people type after `@`. Left out: made from the name."""
    template: str = Field(default="blank", json_schema_extra={"enum": list(AGENT_TEMPLATES)})
    """The key of a template (`GET agent-templates`)."""
    prompt: str | None = Field(default=None, max_length=MAX_PROMPT)
    """The system prompt of the first version."""
    tools: Annotated[list[ToolName], Field(max_length=64, json_schema_extra={"uniqueItems": True})] | None = None
    """The names of the tools that it may use (`GET workspaces/{id}/tools`)."""
    avatar: NewAvatar | None = None
    """A letter or an emoji with a colour. Left out: chosen."""
    open_chat: bool = False
    """Whether the agent greets the reader in a new chat, `chat_id` of the answer."""
    questions: Annotated[list[Question], Field(max_length=3)] | None = None
    """Example questions in its greeting."""


class NewAgentRow(AgentRow):
    """The new agent, and the chat in which it greeted the reader if `open_chat` was set."""

    chat_id: UUID | None = None


class AgentBody(Body):
    """The fields to change; null: as before."""

    name: Name | None = None
    """The name that people see."""
    description: str | None = Field(default=None, max_length=2000)
    """What the agent is for. Other agents read it, too."""
    avatar: NewAvatar | None = None
    """A letter or an emoji with a colour."""
    handle: Handle | None = None
    """What people type after `@`."""
    accepts_tasks: bool | None = None
    """Whether the other agents of its workspace may give it tasks."""
    role: str | None = Field(default=None, max_length=80)
    """What it does in the team."""
    revision: Revision
    """The revision of the agent that was read."""


class ParentBody(Body):
    parent_id: UUID | None
    """The agent that it reports to from now on; null: none."""


REVISION_WITHOUT_CONTENT: JsonDict = {
    "required": ["revision"],
    "properties": {"revision": {"type": "integer"}, "content": {"type": "null"}},
}
"""The schema of a body with `revision` and without `content`, which is refused."""


class DraftBody(Body):
    """Without `revision`, acquire the lock, and start a draft if there is none. With `revision`, write `content`."""

    model_config = ConfigDict(json_schema_extra={"not": REVISION_WITHOUT_CONTENT})

    content: SpecContent | None = None
    """The whole spec as it is now, not a part of it. When the lock is acquired, null."""
    revision: Revision | None = None
    """The revision of the draft on which `content` is based."""
    caret: int | None = Field(default=None, ge=0, le=MAX_NUMBER)
    """Where the writer's cursor is in the prompt, which others see."""


class RevisionBody(Body):
    revision: Revision
    """The revision of the draft that was read."""


class HandOverBody(RevisionBody):
    to: UUID
    """A person who has requested the draft."""


class LockWaiterBody(Body):
    wants_notice: bool
    """Whether the reader is notified when the lock of the draft is free."""


class RebaseBody(Body):
    revision: Revision
    """The revision of the draft that was read."""
    merge_production: bool = False
    """Merge production's changes into the draft. False: only the base changes, because the reader has merged by
    hand."""


class SaveBody(Body):
    revision: Revision
    """The revision of the draft that was read, which must be applied."""
    base_version: Version
    """The number of the production version on which the draft is based."""
    message: str = Field(default="", max_length=400)
    """What has changed, for the list of versions."""
    unused_suggestions: list[UUID] = Field(default=[], max_length=100)
    """The suggestions that were merged into the draft and are not used in it (`GET …/draft/suggestions`). If others
    are not used, the draft is not saved."""


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


class AgentThumbsQuery(PageQuery):
    value: ThumbValue | None = None
    """Only good (`up`) or only bad (`down`) answers."""


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
    choice: VoteChoice | None
    """The better side; null withdraws the vote."""
