"""The rows of suggestions, and of the merges of suggestions into drafts."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _

from events.row import DescribedAs, Row
from events.rows.agents import DiffRow, SpecRow
from events.rows.chats import Provenance
from events.rows.people import ActorRow


class SuggestionState(models.TextChoices):
    """The state of a suggestion. `REJECTED`, `WITHDRAWN` and `UNUSED` are final. An accepted one becomes pending again if its draft
    is discarded.

    `UNUSED`: it was accepted, but the version that its draft was saved as contains nothing of it.
    """

    PENDING = "pending", _("Pending")
    ACCEPTED = "accepted", _("Accepted")
    REJECTED = "rejected", _("Rejected")
    WITHDRAWN = "withdrawn", _("Withdrawn")
    UNUSED = "unused", _("Unused")


class SuggestionSummaryState(models.TextChoices):
    """The state of the summary of a suggestion, which a job writes."""

    PENDING = "pending", _("Pending")
    READY = "ready", _("Ready")
    FAILED = "failed", _("Failed")


class MergeState(models.TextChoices):
    """The state of a merge. The last three are final."""

    WAITING = "waiting", _("Waiting")
    WORKING = "working", _("Working")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    STOPPED = "stopped", _("Stopped")


class MergeMethod(models.TextChoices):
    """How the draft of a merge was made."""

    COPIED = "copied", _("copied")
    AGENT = "agent", _("by the merge agent")
    EXTERNAL = "external", _("by a service")
    TEXT = "text", _("line by line")


class ListedSuggestionRow(Row):
    """A proposal to change an agent, in lists: without its content, which may be long.

    `chat_id` and `chat_title` are null for those who may not read that chat. `base_version` is the version that the suggestion
    changes, and `production` is the present production version. `merge_id` is the active merge of the suggestion, or the merge
    by which it was accepted. `saved_as` is the version that the draft of this merge was saved as; the version has nothing of a
    suggestion with the state `unused`. `verbs` are those of the reader.
    """

    id: UUID
    workspace_id: UUID
    agent: ActorRow
    author: ActorRow
    chat_id: UUID | None
    chat_title: str | None
    base_version: int
    production: int
    touches: list[str]
    note: str
    summary: str
    summary_state: SuggestionSummaryState
    summary_error: str | None
    state: SuggestionState
    merge_id: UUID | None
    saved_as: int | None
    decided_by: ActorRow | None
    decided_at: datetime | None
    reason: str
    verbs: list[Literal["accept", "reject", "withdraw", "summarize"]]
    created_at: datetime


class SuggestionRow(ListedSuggestionRow):
    """A suggestion with its `content`, a whole spec."""

    content: Annotated[dict[str, Any], DescribedAs("SpecContent")]


class SuggestionDetailRow(Row):
    """A suggestion with its base version and the production version, and its differences from both."""

    suggestion: SuggestionRow
    base: SpecRow
    production: SpecRow
    against_base: DiffRow
    against_production: DiffRow


class MergeRow(Row):
    """A merge of suggestions into a draft. `method` is `copied` (one suggestion that changes the production version), `agent` (the
    merge agent), `external` (an external service), or `text` (a merge by lines after one of these has failed; `error` has the
    reason). `unused_ids` are suggestions of which the saved version has nothing. `chat_id` is null for readers who are not in
    the chat.
    """

    id: UUID
    workspace_id: UUID
    agent_id: UUID
    chat_id: UUID | None
    by: ActorRow
    suggestion_ids: list[UUID]
    unused_ids: list[UUID]
    state: MergeState
    method: MergeMethod | None
    base_version: int
    provenance: Provenance | None
    draft_id: UUID | None
    error_code: str | None
    error: str | None
    model: str
    tokens: int
    cost_micro: int | None
    created_at: datetime
    ended_at: datetime | None


class UnusedSuggestionRow(Row):
    """A suggestion that was merged into a draft and is not used in it. `title` is the first line of its note."""

    id: UUID
    author_name: str
    title: str


class DraftSuggestionsRow(Row):
    """The number of suggestions that are merged into a draft, and those of which the draft has nothing."""

    merged: int
    unused: list[UnusedSuggestionRow]
