"""The rows of people and agents, API tokens, and workspaces."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from common.providers import ProviderName
from events.payloads import PaidBy, PayerReason
from events.row import Row
from events.rows.avatars import Avatar


class TokenScope(models.TextChoices):
    """Whether an API token may do all that its person or agent may, or only read."""

    FULL = "full", _("Full")
    READ = "read", _("Read")


class Role(models.TextChoices):
    """The role of a member of a workspace, which determines their rights."""

    EDITOR = "editor", _("Editor")
    SUGGESTER = "suggester", _("Suggester")


class ActorRow(Row):
    """A person or an agent as shown to others. `is_taken_down`: a public agent that does not answer any more."""

    id: UUID
    kind: Literal["human", "agent"]
    name: str
    handle: str
    description: str | None = None
    workspace_id: UUID | None = None
    is_public: bool = False
    is_taken_down: bool = False
    avatar: Avatar | None = None


class ApiTokenRow(Row):
    """An API token of the reader, or of an agent. Its text is returned once, when it is created; `prefix` is its beginning."""

    id: UUID
    name: str
    prefix: str
    scope: TokenScope
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class ViewingRow(Row):
    """An operator views as the reader, until `ended_at`, which is null before, and until `ends_at` at the latest."""

    id: UUID
    operator: ActorRow
    reason: str
    started_at: datetime
    ends_at: datetime
    ended_at: datetime | None


class WorkspaceRow(Row):
    """A workspace. `role` and `verbs` are those of the reader. `former_handles`: at an address with one of them, the workspace is
    opened at its present address."""

    id: UUID
    name: str
    handle: str
    former_handles: list[str]
    time_zone: str
    revision: int
    role: Role
    verbs: list[str]


class DeletedWorkspaceRow(Row):
    """A deleted workspace that the reader can restore until `purge_at`."""

    id: UUID
    name: str
    deleted_at: datetime
    purge_at: datetime
    deleted_by: ActorRow | None


class MembershipRow(Row):
    """A member of a workspace."""

    id: UUID
    workspace_id: UUID
    actor: ActorRow
    role: Role
    joined_at: datetime


class ModelRow(Row):
    """The model of a workspace's agents, of a person, or for embeddings. Of its key, only the last four characters are returned."""

    provider: ProviderName
    api_base: str | None = None
    options: dict[str, str] = Field(default_factory=dict)
    """Further settings of the provider (`GET model-providers`)."""
    default_model: str
    key_last4: str | None = None
    has_key: bool = False
    """Whether a key is stored; `key_last4` shows the end of a long one only."""
    context_size: int | None = None
    """The most tokens of a request, if somebody has set them; null: as many as the server says."""
    revision: int


class LLMProfileUseRow(Row):
    """A workspace of the reader, and why the reader's own model answers there (`llm_profile`) or not."""

    workspace_id: UUID
    name: str
    reason: PayerReason


class LLMProfileRow(Row):
    """The reader's own model; `model` is null if none is set.

    `is_allowed` and `allowed_providers`: what the operator allows. `tested_at`, `test_code` and `test_message`: the last test of
    these settings; the texts are empty if the model answered. `failed_at` and so on: the last failed request of a run.
    """

    model: ModelRow | None
    is_allowed: bool
    allowed_providers: list[ProviderName]
    tested_at: datetime | None
    test_code: str
    test_message: str
    failed_at: datetime | None
    failure_code: str
    failure_message: str
    workspaces: list[LLMProfileUseRow]


class ModelPolicyRow(Row):
    """Who pays for the models of a workspace. `allows_llm_profiles`: its editors allow that members use their own models;
    `operator_allows_llm_profiles`: the operator does.

    `paid_by`, `payer_reason` and `model`: what answers now if the reader asks an agent whose version names no model; null if
    nothing can.
    """

    allows_llm_profiles: bool
    operator_allows_llm_profiles: bool
    requires_system_model: bool
    paid_by: PaidBy | None
    payer_reason: PayerReason | None
    model: str | None
