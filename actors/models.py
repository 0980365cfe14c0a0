"""Actor: one table for people and agents (ADR-001). It is the user model; only people can sign in."""

import hashlib
from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models import F, Q

from common.clock import now
from common.models import Identified, Revised
from events.rows import ActorRow, ApiTokenRow


class Kind(models.TextChoices):
    HUMAN = "human"
    AGENT = "agent"


class AgentStatus(models.TextChoices):
    """Whether an agent may work at all. Apart from `is_active`, which is about signing in."""

    READY = "ready"
    SUSPENDED = "suspended"
    DELETED = "deleted"


class Actors(BaseUserManager["Actor"]):
    """Everybody: people and agents."""

    def create_superuser(self, email: str, password: str, **fields: Any) -> "Actor":
        """An operator, for `manage.py createsuperuser`."""
        name = fields.pop("name", email.partition("@")[0])
        handle = fields.pop("handle", None) or f"operator-{Actor.objects.filter(is_superuser=True).count() + 1}"
        person = Actor(
            kind=Kind.HUMAN, email=email.lower(), username=handle, handle=handle, name=name,
            is_active=True, is_staff=True, is_superuser=True,
        )  # fmt: skip
        person.set_password(password)
        person.save()
        return person


class People(Actors):
    """People only: what has to do with signing in sees nobody else."""

    def get_queryset(self) -> models.QuerySet["Actor"]:
        return super().get_queryset().filter(kind=Kind.HUMAN)

    def get_by_natural_key(self, username: str | None) -> "Actor":
        return self.get(email__iexact=username)


class Actor(Identified, Revised, AbstractBaseUser, PermissionsMixin):
    """Somebody who can be in a chat: a person, who is in any number of workspaces, or an agent, which belongs to one
    or is public (§4.2, §4.3.4). Name and description belong to the actor, not to its spec (S0.2).
    """

    kind = models.CharField(max_length=8, choices=Kind.choices)
    name = models.CharField(max_length=80)
    handle = models.SlugField(max_length=40)
    created_at = models.DateTimeField(auto_now_add=True)

    # people
    username = models.CharField(max_length=40, null=True, blank=True, unique=True)
    email = models.EmailField(null=True, blank=True, unique=True)
    language = models.CharField(max_length=8, blank=True, default="")
    is_active = models.BooleanField(default=False)
    is_staff = models.BooleanField(default=False)
    # Raised to sign a person out everywhere: their sessions were opened under an earlier one.
    session_epoch = models.PositiveIntegerField(default=0)

    # agents
    description = models.TextField(null=True, blank=True)
    workspace = models.ForeignKey(
        "workspaces.Workspace", null=True, blank=True, on_delete=models.PROTECT, related_name="agents"
    )
    current_spec = models.ForeignKey(
        "agents.AgentSpec", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    status = models.CharField(max_length=12, choices=AgentStatus.choices, default=AgentStatus.READY)
    is_public = models.BooleanField(default=False)
    is_shipped = models.BooleanField(default=False)
    published_at = models.DateTimeField(null=True, blank=True)
    published_by_workspace = models.ForeignKey(
        "workspaces.Workspace", null=True, blank=True, on_delete=models.PROTECT, related_name="published_agents"
    )
    published_from_agent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="published_copies"
    )
    taken_down_at = models.DateTimeField(null=True, blank=True)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = Actors()
    people = People()

    class Meta:
        permissions = [
            ("edit_draft_actor", "Can write a draft of this agent"),
            ("save_agent_actor", "Can save versions of this agent"),
            ("review_agent_actor", "Can review suggestions for this agent"),
            ("rename_agent_actor", "Can change this agent's name and description"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=Kind.values), name="actor_kind_known"),
            models.CheckConstraint(
                condition=~Q(kind=Kind.HUMAN)
                | Q(
                    workspace=None, current_spec=None, description=None, is_public=False, is_shipped=False,
                    username__isnull=False, email__isnull=False, username=F("handle"),
                    published_at=None, published_by_workspace=None, published_from_agent=None, taken_down_at=None,
                ),
                name="human_is_global_and_known",
            ),
            models.CheckConstraint(
                condition=~Q(kind=Kind.AGENT)
                | Q(username=None, email=None, is_active=False, is_staff=False, is_superuser=False),
                name="agent_never_signs_in",
            ),
            models.CheckConstraint(
                condition=~Q(kind=Kind.AGENT) | Q(workspace__isnull=False, is_public=False)
                | Q(workspace=None, is_public=True),
                name="agent_has_a_workspace_or_is_public",
            ),
            models.CheckConstraint(
                condition=~Q(is_public=True) | Q(published_at__isnull=False), name="public_agent_has_its_date"
            ),
            models.CheckConstraint(
                condition=Q(is_public=True)
                | Q(published_at=None, published_by_workspace=None, published_from_agent=None, is_shipped=False,
                    taken_down_at=None),
                name="only_public_agents_are_published",
            ),
            models.CheckConstraint(
                condition=~Q(is_shipped=True) | Q(published_by_workspace=None, published_from_agent=None),
                name="shipped_agents_have_no_publisher",
            ),
            models.CheckConstraint(
                condition=~Q(is_public=True, is_shipped=False)
                | Q(published_by_workspace__isnull=False, published_from_agent__isnull=False),
                name="published_agents_have_a_publisher",
            ),
            models.UniqueConstraint(
                fields=["workspace", "handle"], condition=Q(workspace__isnull=False) & ~Q(status="deleted"),
                name="agent_handle_unique_in_workspace",
            ),
            models.UniqueConstraint(
                fields=["name"], condition=Q(is_public=True, taken_down_at=None), name="public_agent_name_unique"
            ),
            models.UniqueConstraint(
                fields=["handle"], condition=Q(is_public=True, taken_down_at=None), name="public_agent_handle_unique"
            ),
            models.UniqueConstraint(
                fields=["published_from_agent"], condition=Q(is_public=True, taken_down_at=None),
                name="published_once_per_origin",
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.name} (@{self.handle})"

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """What a session was opened under: the password, and the person's `session_epoch`."""
        stamp: str = super()._get_session_auth_hash(secret=secret)  # type: ignore[misc]  # not in the stubs
        return f"{stamp}.{self.session_epoch}" if self.session_epoch else stamp

    def get_full_name(self) -> str:
        return self.name

    def get_short_name(self) -> str:
        return self.name

    def row(self) -> ActorRow:
        """What everyone who meets this actor sees: no e-mail, nothing of its other workspaces."""
        return ActorRow(
            id=self.id, kind=self.kind, name=self.name, handle=self.handle, description=self.description,
            workspace_id=self.workspace_id, is_public=self.is_public,
        )  # fmt: skip

    @property
    def is_human(self) -> bool:
        return self.kind == Kind.HUMAN

    @property
    def is_agent(self) -> bool:
        return self.kind == Kind.AGENT


TOKEN_PREFIX = "atl_"
"""What every API token begins with, so that people and scanners of leaks know it."""


class LiveTokens(models.Manager["ApiToken"]):
    """Those that have not been revoked; some may have expired."""

    def get_queryset(self) -> models.QuerySet["ApiToken"]:
        return super().get_queryset().filter(revoked_at=None)


class ApiToken(Identified):
    """A personal API token: a person's program acts by it as that person (D6, D7, D17). Its text is not stored."""

    person = models.ForeignKey(Actor, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = models.Manager()
    live = LiveTokens()

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @staticmethod
    def digest_of(text: str) -> str:
        """What is kept of a token's text (D17)."""
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def has_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= now()

    def row(self) -> ApiTokenRow:
        return ApiTokenRow(
            id=self.id, name=self.name, prefix=self.prefix, created_at=self.created_at, expires_at=self.expires_at,
            last_used_at=self.last_used_at,
        )  # fmt: skip
