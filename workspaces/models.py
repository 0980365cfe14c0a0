"""Workspaces, their members, and the model of their agents."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from common.model_settings import ChatModelSettings
from common.models import Identified, ObjectGrant, WithRevision, build_display_name
from events.payloads import ContextStrategy
from events.rows import MembershipRow, Role

if TYPE_CHECKING:
    from django_stubs_ext import StrPromise


CONTEXT_STRATEGIES: dict[ContextStrategy, str] = {
    "truncate": gettext_noop("leave out"),
    "summarise": gettext_noop("summarise"),
    "retrieve": gettext_noop("retrieve"),
}


def list_context_strategies() -> "list[tuple[str, StrPromise]]":
    """Return the values of `ContextStrategy` with their labels, for a column's choices."""
    return [(value, _(label)) for value, label in CONTEXT_STRATEGIES.items()]


def get_default_time_zone() -> str:
    """Return the time zone of a new workspace: that of the installation."""
    return settings.TIME_ZONE


class Workspace(Identified, WithRevision):
    """The container of a team: members, private agents, chats, model credentials."""

    name = models.CharField(_("name"), max_length=80)
    handle = models.SlugField(_("handle"), max_length=40)
    # Newest last. An address with one of them leads to the workspace, unless another workspace of the reader has it now.
    former_handles = ArrayField(
        models.SlugField(max_length=40), verbose_name=_("former handles"), default=list, blank=True
    )
    # A member's own model receives the texts of a chat, also those of others, so editors must allow it.
    allows_llm_profiles = models.BooleanField(_("members may use their own models"), default=False)
    # The days and months of budgets and of usage begin at midnight in this time zone.
    time_zone = models.CharField(_("time zone"), max_length=64, default=get_default_time_zone)
    time_zone_changed_at = models.DateTimeField(_("time zone changed at"), null=True)
    # What models read of chats that are too long for them (docs/context.md). They are here because each run reads its workspace.
    context_strategy = models.CharField(
        _("context strategy"), max_length=12, choices=list_context_strategies, default="summarise"
    )
    context_max_tokens = models.PositiveIntegerField(_("context max tokens"), null=True, blank=True)
    context_revision = models.PositiveIntegerField(_("context revision"), default=1)
    # In millionths of a dollar: a board by hand whose estimate is higher waits for a person; null: none waits (docs/boards.md).
    boards_ask_above_micro = models.BigIntegerField(_("ask before boards above"), null=True, blank=True)
    boards_revision = models.PositiveIntegerField(_("revision of the settings of boards"), default=1)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    # The row of a deleted workspace stays, for the ledger, the audit trail and its public agents that were taken down.
    deleted_at = models.DateTimeField(_("deleted at"), null=True, blank=True)
    deleted_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("deleted by"), null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    deleted_by_operator = models.BooleanField(_("deleted by an operator"), default=False)
    # When the editor who deleted it had become an editor; null if an operator deleted it. Former editors who had the role
    # before that may undo the deletion.
    deleted_by_editor_since = models.DateTimeField(_("deleted by an editor since"), null=True, blank=True)
    # The status that each agent had at the deletion, by its id. It is set again if the deletion is undone.
    agent_statuses = models.JSONField(_("statuses of the agents at the deletion"), null=True, blank=True)
    # When the last row of its content was deleted.
    purged_at = models.DateTimeField(_("purged at"), null=True, blank=True)

    class Meta:
        verbose_name = _("workspace")
        verbose_name_plural = _("workspaces")
        permissions = [
            ("invite_workspace", gettext_noop("Can invite people")),
            ("set_model_workspace", gettext_noop("Can set the model and its key")),
            ("create_agent_workspace", gettext_noop("Can create agents")),
        ]
        constraints = [
            # A deleted workspace keeps its handle until it is purged, because the deletion may be undone.
            models.UniqueConstraint(fields=["handle"], condition=Q(purged_at=None), name="workspace_handle_unique"),
            models.CheckConstraint(
                condition=Q(purged_at=None) | Q(deleted_at__isnull=False), name="only_deleted_workspaces_are_purged"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def purge_at(self) -> datetime | None:
        """When the content of a deleted workspace is purged. Until then the deletion can be undone."""
        return self.deleted_at and self.deleted_at + timedelta(days=settings.WORKSPACE_PURGE_DAYS)


class WithEditorTimes(models.Model):
    """When a person became an editor (null: when they joined), and when another member took this role from them, by giving
    them another role or by removing them. Such a person may undo a deletion by a later editor (`workspaces_restorable_by`).
    """

    editor_since = models.DateTimeField(_("editor since"), null=True, blank=True)
    editor_until = models.DateTimeField(_("editor until"), null=True, blank=True)

    class Meta:
        abstract = True


class Membership(Identified, WithEditorTimes):
    """A person in a workspace."""

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="memberships"
    )
    actor = models.ForeignKey(
        "actors.Actor", verbose_name=_("actor"), on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(_("role"), max_length=16, choices=Role.choices)
    joined_at = models.DateTimeField(_("joined at"), auto_now_add=True)

    class Meta:
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        constraints = [
            models.UniqueConstraint(fields=["workspace", "actor"], name="one_membership_per_person"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return build_display_name(self, "actor", "workspace")

    def to_row(self) -> MembershipRow:
        return MembershipRow(
            id=self.id,
            workspace_id=self.workspace_id,
            actor=self.actor.to_row(),
            role=self.role,
            joined_at=self.joined_at,
        )


class DeletedMembership(Identified, WithEditorTimes):
    """A membership of a deleted workspace. It gives no right but that of an editor to undo the deletion, which restores it."""

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="deleted_memberships"
    )
    actor = models.ForeignKey(
        "actors.Actor", verbose_name=_("actor"), on_delete=models.CASCADE, related_name="deleted_memberships"
    )
    role = models.CharField(_("role"), max_length=16, choices=Role.choices)
    joined_at = models.DateTimeField(_("joined at"))

    class Meta:
        verbose_name = _("membership of a deleted workspace")
        verbose_name_plural = _("memberships of deleted workspaces")
        constraints = [
            models.UniqueConstraint(fields=["workspace", "actor"], name="one_deleted_membership_per_person"),
        ]

    def __str__(self) -> str:
        return build_display_name(self, "actor", "workspace")


class PastMembership(Identified, WithEditorTimes):
    """The last membership that a person had in a workspace. It limits what the person gets by an older invite link.

    `removed_at` is set if another person ended the membership: links that were created before do not work for the person.
    """

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="past_memberships"
    )
    actor = models.ForeignKey(
        "actors.Actor", verbose_name=_("actor"), on_delete=models.CASCADE, related_name="past_memberships"
    )
    role = models.CharField(_("role"), max_length=16, choices=Role.choices)
    ended_at = models.DateTimeField(_("ended at"))
    removed_at = models.DateTimeField(_("removed at"), null=True, blank=True)

    class Meta:
        verbose_name = _("past membership")
        verbose_name_plural = _("past memberships")
        constraints = [
            models.UniqueConstraint(fields=["workspace", "actor"], name="one_past_membership_per_person"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="past_membership_role_known"),
        ]

    def __str__(self) -> str:
        return build_display_name(self, "actor", "workspace")


class Credential(Identified, ChatModelSettings):
    """The model of a workspace's agents."""

    workspace = models.OneToOneField(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="credential"
    )

    class Meta:
        verbose_name = _("model and key")
        verbose_name_plural = _("models and keys")

    def __str__(self) -> str:
        return f"{build_display_name(self, 'workspace')} · {self.provider}"

    @property
    def owner_id(self) -> UUID:
        return self.workspace_id


class WorkspaceGrant(ObjectGrant):
    """A verb that a member has on a workspace beyond those of their role. Operators grant it in the admin."""

    content_object = models.ForeignKey(
        Workspace, verbose_name=_("content object"), on_delete=models.CASCADE, related_name="grants"
    )

    class Meta(ObjectGrant.Meta):
        verbose_name = _("access to a workspace")
        verbose_name_plural = _("access to workspaces")
