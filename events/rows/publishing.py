"""The rows of the directory of public agents, and of their publication."""

from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from events.payloads import MemoryScope
from events.row import Row
from events.rows.people import ActorRow
from events.rows.tools import ToolEffect


class ListingCategory(models.TextChoices):
    """The category of a public agent in the directory."""

    WRITING = "writing", _("Writing")
    LANGUAGE = "language", _("Language")
    RESEARCH = "research", _("Research")
    DATA = "data", _("Data")
    CODING = "coding", _("Coding")
    BUSINESS = "business", _("Business")
    EDUCATION = "education", _("Education")
    OTHER = "other", _("Other")


class ReportReason(models.TextChoices):
    """Why a person reports a public agent."""

    MISLEADING = "misleading", _("does something else than it says")
    DATA = "data", _("sends data where it should not")
    HARMFUL = "harmful", _("harmful or unlawful")
    BRAND = "brand", _("uses our name or brand")
    OTHER = "other", _("something else")


class ReportState(models.TextChoices):
    """Whether an operator still has to look at a report."""

    OPEN = "open", _("open")
    CLOSED = "closed", _("closed")


class DirectoryRow(Row):
    """A public agent in the directory.

    `publisher_name` is the workspace that published it; null for an agent that comes with the release. `is_yours`: the reader is a
    member of that workspace. `chat_count`: chats that it is in now. `run_count`: its replies in the last 30 days, and
    `workspace_count` the workspaces in whose chats they are; both are counted anew each hour. A count is null if it is one to four,
    because it would tell what single workspaces do. `tool_name`: its name as a tool of other agents.
    """

    actor: ActorRow
    tool_name: str
    category: ListingCategory
    languages: list[str]
    publisher_name: str | None
    is_shipped: bool
    is_yours: bool
    version: int
    published_at: datetime
    tool_count: int
    chat_count: int | None
    run_count: int | None
    workspace_count: int | None


class DirectoryToolRow(Row):
    """A tool of a public agent. Whether its calls ask first is the policy of the workspace in whose chat it works."""

    name: str
    description: str
    effect: ToolEffect


class DirectoryVersionRow(Row):
    """A version of a public agent, with what its publisher has noted about it."""

    number: int
    message: str
    created_at: datetime


class TypicalReplyRow(Row):
    """What a reply typically costs with its sub-agents, in millionths of a dollar, and how long the agent's own requests to its
    model take: the median of `runs` replies of the last 30 days whose price is known. `low_micro` and `high_micro`: eight of ten
    replies cost between them."""

    runs: int
    median_micro: int
    low_micro: int
    high_micro: int
    median_seconds: float | None


class DirectoryDetailRow(DirectoryRow):
    """A public agent, without its prompt. `model` is empty if it names none, so that the default of the workspace answers.
    `tool_schema` is the JSON Schema of the arguments with which other agents call it.
    `typical` is null as long as the replies are of fewer than five workspaces. `verbs` are those of the reader.
    `versions` are the newest twenty. `origin_id` and `origin_workspace_id`: the original and its workspace, for those who may
    publish its next version; else null. `is_suspended`: an operator has suspended it, and only the editors of its publisher
    still read it."""

    examples: list[str]
    model: str
    max_steps: int
    max_seconds: int
    tool_schema: dict[str, Any]
    tools: list[DirectoryToolRow]
    typical: TypicalReplyRow | None
    versions: list[DirectoryVersionRow]
    verbs: list[str]
    is_suspended: bool
    origin_id: UUID | None
    origin_workspace_id: UUID | None


UnpublishedReason = Literal[
    "workspace", "editing", "pages", "memory", "other_chats", "sub_agent", "no_sub_agent", "member", "missing"
]
"""Why a tool is not published. `sub_agent`: an agent of the workspace, to which `delegate` gives tasks; `no_sub_agent`: `delegate`
itself, if no agent that comes with the release is left; `member`: an agent of the workspace in its team."""


class UnpublishedToolRow(Row):
    """A tool that is not published, or an agent of the workspace that a tool gives tasks to, by its handle. `lines` are the lines
    of the prompt that name it, from 1."""

    name: str
    reason: UnpublishedReason
    lines: list[int]


class SecretWarningRow(Row):
    """A text that would be published and has what looks like a key or a password. `name`: of the tool whose instructions or
    settings it is; empty for all others. `team`: how the team's results are put together. `lines`: of the prompt, or the number of
    the example, from 1; else empty."""

    place: Literal["prompt", "tool", "team", "description", "example", "message"]
    name: str
    lines: list[int]


class NameCheckRow(Row):
    """Whether a name or a handle is free for a public agent, and, if not, free ones."""

    value: str
    is_free: bool
    suggestions: list[str]


class PublicationCheckRow(Row):
    """Which parts of a version would be published, and which would not: never workspace tools, keys, files, memory and history.

    `model_may_be_missing`: the version names a model that other workspaces may not have; their default answers there.
    `memory`: that of the version; a public agent remembers each chat by itself.
    `secrets`: what looks like a key or a password in the prompt and in the instructions and settings of tools, which whoever runs
    the agent can read.
    """

    version: int
    prompt_lines: int
    model: str
    model_may_be_missing: bool
    max_steps: int
    max_seconds: int
    tools: list[DirectoryToolRow]
    unpublished_tools: list[UnpublishedToolRow]
    secrets: list[SecretWarningRow]
    memory: MemoryScope
    name: NameCheckRow
    handle: NameCheckRow


class TakedownRow(Row):
    """A public copy that was taken down, with its listing, for publishing it anew. `by_operator`: an operator did it, and
    not its publisher."""

    agent_id: UUID
    name: str
    handle: str
    published_at: datetime
    taken_down_at: datetime
    by_operator: bool
    reason: str
    description: str
    category: ListingCategory
    languages: list[str]
    examples: list[str]


class PublicationRow(Row):
    """The publication of an agent, for its editors. `listing` is the public copy, null if there is none; `origin_version` the
    version of the agent that the copy was made of. `takedowns` are the newest twenty."""

    check: PublicationCheckRow
    listing: DirectoryDetailRow | None
    origin_version: int | None
    takedowns: list[TakedownRow]


class PublicUseRow(Row):
    """The use of a public agent on one day (UTC), everywhere. Numbers only: its publisher sees nothing else of others.
    A number is null if it is one to four."""

    day: date
    runs: int | None
    chats: int | None
    workspaces: int | None


class TakedownPreviewRow(Row):
    """How many a takedown affects: workspaces and chats that the agent is in, agents that have it as a tool, and runs under way.
    A number is null if it is one to four."""

    workspaces: int | None
    chats: int | None
    agents: int | None
    runs: int | None


class AgentReportRow(Row):
    """A report of the reader about a public agent."""

    id: UUID
    agent_id: UUID
    reason: ReportReason
    text: str
    state: ReportState
    created_at: datetime
