"""Actor: one table for people and agents. It is the user model; only people can sign in."""

from typing import Any, ClassVar

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.models import PermissionsMixin
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from common.clock import now
from common.models import Identified, WithRevision
from events.rows import ActorRow, ApiTokenRow, TokenScope, ViewingRow


class Kind(models.TextChoices):
    HUMAN = "human", _("Human")
    AGENT = "agent", _("Agent")


class AgentStatus(models.TextChoices):
    """Whether an agent may run. `is_active` is about signing in, and always false for agents."""

    READY = "ready", _("Ready")
    SUSPENDED = "suspended", _("Suspended")
    DELETED = "deleted", _("Deleted")


class Actors(BaseUserManager["Actor"]):
    """The manager of all people and agents."""

    def create_superuser(self, email: str, password: str | None, **fields: Any) -> "Actor":
        """Create a superuser, who cannot sign in without a password."""
        name = fields.pop("name", email.partition("@")[0])
        handle = fields.pop("handle", None) or f"operator-{Actor.objects.filter(is_superuser=True).count() + 1}"
        person = Actor(
            kind=Kind.HUMAN,
            email=email.lower(),
            username=handle,
            handle=handle,
            name=name,
            is_active=True,
            is_staff=True,
            is_superuser=True,
        )
        person.set_password(password)
        person.save()
        return person


class People(Actors):
    """The manager of people. All code that has to do with signing in uses it."""

    def get_queryset(self) -> models.QuerySet["Actor"]:
        return super().get_queryset().filter(kind=Kind.HUMAN)

    def get_by_natural_key(self, username: str | None) -> "Actor":
        return self.get(email__iexact=username)


class Actor(Identified, WithRevision, AbstractBaseUser, PermissionsMixin):
    """A person or an agent. A person is in any number of workspaces; an agent belongs to one workspace or is public.

    The name and description of an agent belong to the actor and not to its spec, so they are not versioned.
    `accepts_tasks`: whether the other agents of its workspace may give it tasks. `runs_outside`: an outside program answers for the
    agent by an API token, so that messages wake no run.
    """

    kind = models.CharField(_("kind"), max_length=8, choices=Kind.choices)
    name = models.CharField(_("name"), max_length=80)
    handle = models.SlugField(_("handle"), max_length=40)
    # An `Avatar` (`events.rows`); null: the web app chooses one.
    avatar = models.JSONField(_("avatar"), null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    # people
    username = models.CharField(_("username"), max_length=40, null=True, blank=True, unique=True)
    email = models.EmailField(_("email"), null=True, blank=True, unique=True)
    language = models.CharField(_("language"), max_length=8, blank=True, default="")
    is_active = models.BooleanField(_("is active"), default=False)
    is_staff = models.BooleanField(_("is staff"), default=False)
    # Raised to sign a person out everywhere: sessions that were created with a lower value are invalid.
    session_epoch = models.PositiveIntegerField(_("session epoch"), default=0)

    # agents
    description = models.TextField(_("description"), null=True, blank=True)
    workspace = models.ForeignKey(
        "workspaces.Workspace",
        verbose_name=_("workspace"),
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="agents",
    )
    current_spec = models.ForeignKey(
        "agents.AgentSpec",
        verbose_name=_("current spec"),
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
    )
    status = models.CharField(_("status"), max_length=12, choices=AgentStatus.choices, default=AgentStatus.READY)
    accepts_tasks = models.BooleanField(_("accepts tasks"), default=True)
    role = models.CharField(_("role"), max_length=80, blank=True, default="")
    # The agent of the same workspace to which this agent reports; never itself or an agent below it (`agents/services/tree.py`).
    parent = models.ForeignKey(
        "self", verbose_name=_("parent"), null=True, blank=True, on_delete=models.SET_NULL, related_name="children"
    )
    runs_outside = models.BooleanField(_("runs outside"), default=False)
    is_public = models.BooleanField(_("is public"), default=False)
    is_shipped = models.BooleanField(_("is shipped"), default=False)
    published_at = models.DateTimeField(_("published at"), null=True, blank=True)
    published_by_workspace = models.ForeignKey(
        "workspaces.Workspace",
        verbose_name=_("published by workspace"),
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="published_agents",
    )
    published_from_agent = models.ForeignKey(
        "self",
        verbose_name=_("published from agent"),
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="published_copies",
    )
    taken_down_at = models.DateTimeField(_("taken down at"), null=True, blank=True)
    # The name of a public agent as `normalize_for_comparison` returns it; null for all others.
    normalized_name = models.TextField(_("normalized name"), null=True, blank=True)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = Actors()
    people = People()

    class Meta:
        verbose_name = _("person or agent")
        verbose_name_plural = _("people and agents")
        permissions = [
            ("edit_draft_actor", gettext_noop("Can write a draft of this agent")),
            ("save_agent_actor", gettext_noop("Can save versions of this agent")),
            ("review_agent_actor", gettext_noop("Can review suggestions for this agent")),
            ("update_agent_profile_actor", gettext_noop("Can change this agent's name and description")),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=Kind.values), name="actor_kind_known"),
            models.CheckConstraint(
                condition=~Q(kind=Kind.HUMAN)
                | Q(
                    workspace=None,
                    current_spec=None,
                    description=None,
                    is_public=False,
                    is_shipped=False,
                    username__isnull=False,
                    email__isnull=False,
                    username=F("handle"),
                    published_at=None,
                    published_by_workspace=None,
                    published_from_agent=None,
                    taken_down_at=None,
                ),
                name="human_is_global_and_known",
            ),
            models.CheckConstraint(
                condition=~Q(kind=Kind.AGENT)
                | Q(username=None, email=None, is_active=False, is_staff=False, is_superuser=False),
                name="agent_never_signs_in",
            ),
            models.CheckConstraint(
                condition=~Q(kind=Kind.AGENT)
                | Q(workspace__isnull=False, is_public=False)
                | Q(workspace=None, is_public=True),
                name="agent_has_a_workspace_or_is_public",
            ),
            models.CheckConstraint(
                condition=~Q(is_public=True) | Q(published_at__isnull=False), name="public_agent_has_its_date"
            ),
            models.CheckConstraint(
                condition=Q(is_public=True)
                | Q(
                    published_at=None,
                    published_by_workspace=None,
                    published_from_agent=None,
                    is_shipped=False,
                    taken_down_at=None,
                ),
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
                fields=["workspace", "handle"],
                condition=Q(workspace__isnull=False) & ~Q(status="deleted"),
                name="agent_handle_unique_in_workspace",
            ),
            models.CheckConstraint(
                condition=Q(is_public=False, normalized_name=None)
                | Q(is_public=True, normalized_name__isnull=False, normalized_name__gt=""),
                name="public_agent_has_normalized_name",
            ),
            models.UniqueConstraint(
                fields=["normalized_name"],
                condition=Q(is_public=True, taken_down_at=None),
                name="public_agent_name_unique",
            ),
            models.UniqueConstraint(
                fields=["handle"], condition=Q(is_public=True, taken_down_at=None), name="public_agent_handle_unique"
            ),
            models.UniqueConstraint(
                fields=["published_from_agent"],
                condition=Q(is_public=True, taken_down_at=None),
                name="published_once_per_origin",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} (@{self.handle})"

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Return the hash that a session must have: it depends on the password and on `session_epoch`."""
        digest: str = super()._get_session_auth_hash(secret=secret)  # type: ignore[misc]  # not in the stubs
        return f"{digest}.{self.session_epoch}" if self.session_epoch else digest

    def get_full_name(self) -> str:
        return self.name

    def get_short_name(self) -> str:
        return self.name

    def to_row(self) -> ActorRow:
        """Return the row for other people. It has no email address and nothing about other workspaces."""
        return ActorRow(
            id=self.id,
            kind=self.kind,
            name=self.name,
            handle=self.handle,
            description=self.description,
            workspace_id=self.workspace_id,
            is_public=self.is_public,
            is_taken_down=self.taken_down_at is not None,
            avatar=self.avatar,
        )

    @property
    def is_human(self) -> bool:
        return self.kind == Kind.HUMAN

    @property
    def is_agent(self) -> bool:
        return self.kind == Kind.AGENT


class EmailChange(Identified):
    """A new email address of a person that is not confirmed yet.

    `digest` is the hash of the key in the mailed link; null until the mail is sent.
    """

    person = models.OneToOneField(
        Actor, verbose_name=_("person"), on_delete=models.CASCADE, related_name="email_change"
    )
    email = models.EmailField(_("email"))
    digest = models.CharField(_("digest"), max_length=64, unique=True, null=True)
    created_at = models.DateTimeField(_("created at"))
    expires_at = models.DateTimeField(_("expires at"))

    class Meta:
        verbose_name = _("change of email")
        verbose_name_plural = _("changes of email")

    def __str__(self) -> str:
        return self.email


VIEWING_KEY = "viewing"
"""The name under which the data of an operator's session contain the id of the viewing that was started in it."""


class Viewings(models.QuerySet["Viewing"]):
    """The query set of viewings."""

    def running(self) -> "Viewings":
        """Return the viewings that have not ended. `list_viewings` also checks the right of their operators."""
        return self.filter(
            ended_at=None, ends_at__gt=now(), operator__is_active=True, operator__is_staff=True, person__is_active=True
        ).select_related("operator", "person")


class Viewing(Identified):
    """An operator sees the web app as a person sees it, and can change nothing (SEC45).

    A viewing has an effect until `ended_at` or `ends_at`, in the operator's session that contains its id (`VIEWING_KEY`).
    `ended_by`: null if its time was over.
    """

    operator = models.ForeignKey(Actor, verbose_name=_("operator"), on_delete=models.PROTECT, related_name="+")
    person = models.ForeignKey(Actor, verbose_name=_("person"), on_delete=models.PROTECT, related_name="viewings")
    reason = models.CharField(_("reason"), max_length=400)
    started_at = models.DateTimeField(_("started at"))
    ends_at = models.DateTimeField(_("ends at"))
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    ended_by = models.ForeignKey(
        Actor, verbose_name=_("ended by"), null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    objects = Viewings.as_manager()

    class Meta:
        verbose_name = _("viewing as a person")
        verbose_name_plural = _("viewings as a person")
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="viewing_has_a_reason"),
            models.CheckConstraint(condition=~Q(operator=F("person")), name="viewing_is_of_another_person"),
            models.UniqueConstraint(
                fields=["operator"], condition=Q(ended_at=None), name="operator_has_one_viewing_at_a_time"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.person} · {self.started_at:%Y-%m-%d %H:%M}"

    def to_row(self) -> ViewingRow:
        return ViewingRow(
            id=self.id,
            operator=self.operator.to_row(),
            reason=self.reason,
            started_at=self.started_at,
            ends_at=self.ends_at,
            ended_at=self.ended_at,
        )


TOKEN_PREFIX = "atl_"
"""The prefix of all API tokens, by which people and secret scanners recognise them."""


class UnrevokedTokens(models.Manager["ApiToken"]):
    """The manager of tokens that have not been revoked. They may have expired."""

    def get_queryset(self) -> models.QuerySet["ApiToken"]:
        return super().get_queryset().filter(revoked_at=None)


CAN_USE_TOKENS = Q(actor__is_active=True) | Q(
    Q(created_by=None) | Q(created_by__is_active=True),
    actor__kind=Kind.AGENT,
    actor__status=AgentStatus.READY,
    actor__is_public=False,
)
"""The condition on tokens whose person may sign in, or whose agent may run and belongs to a workspace. An agent's token also needs
that the account of the editor who made it is open."""


class ApiToken(Identified):
    """An API token, by which a program acts as a person or as an agent (SEC6, SEC7, SEC17, AGT1). Only a hash of it is stored."""

    actor = models.ForeignKey(Actor, verbose_name=_("actor"), on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(_("name"), max_length=80)
    prefix = models.CharField(_("prefix"), max_length=12)
    digest = models.CharField(_("digest"), max_length=64, unique=True)
    scope = models.CharField(_("scope"), max_length=8, choices=TokenScope.choices, default=TokenScope.FULL)
    # Of an agent's token: the editor who made it, and who knows its text. The token ends when they are no editor any more.
    created_by = models.ForeignKey(
        Actor, verbose_name=_("created by"), null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires at"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used at"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)

    objects = models.Manager()
    unrevoked = UnrevokedTokens()

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        constraints = [
            models.CheckConstraint(condition=Q(scope__in=TokenScope.values), name="token_scope_known"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def is_read_only(self) -> bool:
        return self.scope == TokenScope.READ

    @property
    def has_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= now()

    def to_row(self) -> ApiTokenRow:
        return ApiTokenRow(
            id=self.id,
            name=self.name,
            prefix=self.prefix,
            created_at=self.created_at,
            expires_at=self.expires_at,
            last_used_at=self.last_used_at,
            scope=self.scope,
        )
