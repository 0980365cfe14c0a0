"""The specs of agents (saved versions and applied drafts), and the draft of an agent in a chat."""

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import Q
from django.db.models.fields.json import KeyTransform
from django.utils.translation import gettext_lazy as _

from agents.specs.content import SpecContent
from chats.models import Chat, VersionedRow
from common.clock import now
from common.models import Identified, ObjectGrant, build_display_name
from events.rows import (
    DraftOutcome,
    DraftRow,
    DraftSnapshotRow,
    LockWaiterRow,
    SnapshotReason,
    SpecOrigin,
    SpecRow,
)


class AgentSpec(Identified):
    """The whole spec of an agent: a version, which has a `number`, or an applied draft, which has none. It never changes.

    `content` is a `SpecContent` as JSON.
    """

    agent = models.ForeignKey("actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="specs")
    number = models.PositiveIntegerField(_("number"), null=True)
    content = models.JSONField(_("content"))
    message = models.CharField(_("message"), max_length=400, blank=True, default="")
    origin = models.CharField(_("origin"), max_length=12, choices=SpecOrigin.choices)
    base_version = models.PositiveIntegerField(_("base version"), null=True)
    author = models.ForeignKey("actors.Actor", verbose_name=_("author"), on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "number"], condition=Q(number__isnull=False), name="versions_of_agent_numbered_once"
            ),
            models.CheckConstraint(
                condition=Q(origin="applied", number=None) | (~Q(origin="applied") & Q(number__isnull=False)),
                name="only_applied_texts_have_no_number",
            ),
        ]
        # The agents that have a public agent as a tool, or in their team.
        indexes = [
            GinIndex(OpClass(KeyTransform("tools", "content"), name="jsonb_path_ops"), name="specs_by_tool"),
            GinIndex(OpClass(KeyTransform("team", "content"), name="jsonb_path_ops"), name="specs_by_team"),
        ]

    def __str__(self) -> str:
        return f"v{self.number}" if self.number else f"…{str(self.id)[-8:]}"

    @property
    def version(self) -> int:
        """The number of a saved version. Raises `ValueError` for an applied draft, which has none."""
        if self.number is None:
            raise ValueError("This spec is not a version.")
        return self.number

    def parse_content(self) -> SpecContent:
        """Return `content` as a `SpecContent`. Fields that were added since it was stored have their defaults."""
        return SpecContent.model_validate(self.content)

    def to_row(self) -> SpecRow:
        return SpecRow(
            id=self.id,
            agent_id=self.agent_id,
            number=self.number,
            content=self.parse_content().as_json(),
            message=self.message,
            origin=self.origin,
            base_version=self.base_version,
            author_id=self.author_id,
            created_at=self.created_at,
        )


class Draft(Identified, VersionedRow):
    """The draft of an agent in a chat. A chat has one current draft per agent: one that has not ended.
    Saving, suggesting or discarding a draft ends it.

    `written` is the content in the editor, which has no effect. `applied` is the spec that answers in the chat. The edit lock
    consists of `lock_holder` and `lock_expires_at`; `revision` is its fencing token and rises with every write (EDIT1, EDIT2,
    EDIT3). `provenance` is a `Provenance` and `votes` are `VoteCount` rows, both as JSON.
    """

    chat = models.ForeignKey(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="drafts")
    agent = models.ForeignKey("actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="drafts")
    written = models.JSONField(_("written"))
    applied = models.ForeignKey(
        AgentSpec, verbose_name=_("applied"), null=True, on_delete=models.PROTECT, related_name="+"
    )
    apply_count = models.PositiveIntegerField(_("apply count"), default=0)
    revision = models.PositiveIntegerField(_("revision"), default=1)
    applied_revision = models.PositiveIntegerField(_("applied revision"), null=True)
    base_version = models.PositiveIntegerField(_("base version"))
    lock_holder = models.ForeignKey(
        "actors.Actor",
        verbose_name=_("lock holder"),
        null=True,
        on_delete=models.SET_NULL,
        related_name="locked_drafts",
    )
    lock_expires_at = models.DateTimeField(_("lock expires at"), null=True)
    created_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("created by"), on_delete=models.PROTECT, related_name="+"
    )
    updated_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("updated by"), on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)
    ended_at = models.DateTimeField(_("ended at"), null=True)
    outcome = models.CharField(_("outcome"), max_length=12, choices=DraftOutcome.choices, blank=True, default="")
    provenance = models.JSONField(_("provenance"), null=True)
    votes = models.JSONField(_("votes"), default=list)
    # The ids of the people who requested the draft, in order.
    requested_by = ArrayField(models.UUIDField(), verbose_name=_("requested by"), default=list)

    class Meta:
        verbose_name = _("draft")
        verbose_name_plural = _("drafts")
        constraints = [
            models.UniqueConstraint(
                fields=["chat", "agent"], condition=Q(ended_at=None), name="one_current_draft_per_chat_and_agent"
            ),
            models.CheckConstraint(
                condition=Q(lock_holder=None, lock_expires_at=None)
                | Q(lock_holder__isnull=False, lock_expires_at__isnull=False),
                name="a_lock_has_holder_and_expiry",
            ),
        ]
        indexes = [models.Index(fields=["lock_holder"], condition=Q(ended_at=None), name="drafts_by_lock_holder")]

    def __str__(self) -> str:
        return build_display_name(self, "agent", "chat")

    @property
    def is_locked(self) -> bool:
        """Whether a person holds the edit lock, and it has not expired."""
        return self.lock_expires_at is not None and self.lock_expires_at > now()

    @property
    def status(self) -> str:
        if self.ended_at:
            return "ended"
        return "applied" if self.applied_id and self.applied_revision == self.revision else "drafting"

    def parse_content(self) -> SpecContent:
        """Return `written`, the content in the editor, as a `SpecContent`. Drafts are compared by it, because their stored JSON
        lacks fields that were added since."""
        return SpecContent.model_validate(self.written)

    def to_row(self) -> DraftRow:
        applied = self.applied
        return DraftRow(
            id=self.id,
            chat_id=self.chat_id,
            version=self.version,
            agent_id=self.agent_id,
            status=self.status,
            written=self.parse_content().as_json(),
            applied=applied.parse_content().as_json() if applied else None,
            applied_spec_id=self.applied_id,
            applied_by=applied.author_id if applied else None,
            apply_count=self.apply_count,
            revision=self.revision,
            base_version=self.base_version,
            lock_holder_id=self.lock_holder_id,
            lock_expires_at=self.lock_expires_at,
            created_by=self.created_by_id,
            updated_by=self.updated_by_id,
            updated_at=self.updated_at,
            outcome=self.outcome or None,
            provenance=self.provenance,
            votes=self.votes,
            requested_by=self.requested_by,
        )


class DraftSnapshot(Identified):
    """The content of a draft before it was replaced by that of another person, of a merge, of the agent or of a rebase."""

    draft = models.ForeignKey(Draft, verbose_name=_("draft"), on_delete=models.CASCADE, related_name="snapshots")
    revision = models.PositiveIntegerField(_("revision"))
    written = models.JSONField(_("written"))
    author = models.ForeignKey("actors.Actor", verbose_name=_("author"), on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(_("reason"), max_length=12, choices=SnapshotReason.choices)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("draft snapshot")
        verbose_name_plural = _("draft snapshots")
        constraints = [models.UniqueConstraint(fields=["draft", "revision"], name="one_snapshot_per_revision")]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'draft')} · {self.revision}"

    def parse_content(self) -> SpecContent:
        """Return `written` as a `SpecContent`."""
        return SpecContent.model_validate(self.written)

    def to_row(self) -> DraftSnapshotRow:
        return DraftSnapshotRow(
            id=self.id,
            draft_id=self.draft_id,
            revision=self.revision,
            written=self.parse_content().as_json(),
            author=self.author.to_row(),
            reason=self.reason,
            created_at=self.created_at,
        )


class LockWaiter(Identified):
    """A person on the waitlist of a draft that another person is editing. The row is deleted when the lock is free, or when the
    person gets it or leaves the chat.

    `wants_notice`: the person is notified when the lock is free. `requested_at`: when they requested the draft from the holder.
    """

    draft = models.ForeignKey(Draft, verbose_name=_("draft"), on_delete=models.CASCADE, related_name="lock_waiters")
    person = models.ForeignKey("actors.Actor", verbose_name=_("person"), on_delete=models.CASCADE, related_name="+")
    wants_notice = models.BooleanField(_("wants a notice"), default=False)
    requested_at = models.DateTimeField(_("requested at"), null=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("waitlist entry")
        verbose_name_plural = _("waitlist entries")
        constraints = [models.UniqueConstraint(fields=["draft", "person"], name="one_waiter_per_draft_and_person")]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'draft')} · {build_display_name(self, 'person')}"

    def to_row(self) -> LockWaiterRow:
        return LockWaiterRow(wants_notice=self.wants_notice, requested_at=self.requested_at)


class AgentGrant(ObjectGrant):
    """A right on one agent that a person has in addition to those of their role, e.g. to save it. It is granted in the admin."""

    content_object = models.ForeignKey(
        "actors.Actor", verbose_name=_("content object"), on_delete=models.CASCADE, related_name="grants"
    )

    class Meta(ObjectGrant.Meta):
        verbose_name = _("access to an agent")
        verbose_name_plural = _("access to agents")
