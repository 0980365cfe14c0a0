"""Workspaces: the team, who is in it, and what its agents think with."""

from django.db import models
from django.db.models import Q
from guardian.models import UserObjectPermissionBase

from common.models import Identified, Revised, called
from events.rows import MembershipRow


class Role(models.TextChoices):
    """What a member may do (§2.3 of the architecture document)."""

    EDITOR = "editor"
    SUGGESTER = "suggester"


class Workspace(Identified, Revised):
    """The container of a team: members, private agents, chats, model credentials (S0.1)."""

    name = models.CharField(max_length=80)
    handle = models.SlugField(max_length=40, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        permissions = [
            ("invite_workspace", "Can invite people"),
            ("set_model_workspace", "Can set the model and its key"),
            ("create_agent_workspace", "Can create agents"),
        ]

    def __str__(self) -> str:
        return self.name


class Membership(Identified):
    """A person in a workspace (ADR-006, ADR-010)."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    actor = models.ForeignKey("actors.Actor", on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role.choices)
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "actor"], name="one_membership_per_person"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return called(self, "actor", "workspace")

    def row(self) -> MembershipRow:
        return MembershipRow(
            id=self.id, workspace_id=self.workspace_id, actor=self.actor.row(), role=self.role,
            joined_at=self.joined_at,
        )  # fmt: skip


class Provider(models.TextChoices):
    """Who runs the model. `openai_compatible` is any server that speaks the OpenAI wire, at `api_base`."""

    DEMO = "demo"
    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    GEMINI = "gemini"
    OPENROUTER = "openrouter"
    OPENAI_COMPATIBLE = "openai_compatible"


class Credential(Identified, Revised):
    """What a workspace's agents think with: a provider, its address, the key (sealed, write-only) and the default model."""

    PURPOSE = "model-key"

    workspace = models.OneToOneField(Workspace, on_delete=models.CASCADE, related_name="credential")
    provider = models.CharField(max_length=24, choices=Provider.choices)
    api_base = models.CharField(max_length=400, blank=True, default="")
    sealed_key = models.TextField(blank=True, default="")
    key_last4 = models.CharField(max_length=4, blank=True, default="")
    default_model = models.CharField(max_length=200)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(provider__in=Provider.values), name="credential_provider_known"),
            models.CheckConstraint(
                condition=Q(provider=Provider.OPENAI_COMPATIBLE) | Q(api_base=""), name="only_compatible_has_api_base"
            ),
        ]

    def __str__(self) -> str:
        return f"{called(self, 'workspace')} · {self.provider}"


class WorkspaceGrant(UserObjectPermissionBase):
    """A verb that one person has on one workspace beyond their role; given in the admin."""

    content_object = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="grants")

    def __str__(self) -> str:
        return called(self, "user", "content_object")
