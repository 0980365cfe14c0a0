"""What an agent is: saved versions, applied texts, and the draft of one chat (ADR-005)."""

from typing import Any

from django.db import models
from django.db.models import Prefetch, Q
from django.utils.functional import cached_property
from guardian.models import UserObjectPermissionBase

from agents.content import SpecContent
from chats.models import Chat, InChat
from common.models import Identified, called
from events.rows import DraftRow, DraftWishRow, EarlierTextRow, SpecRow, ToolConfigRow


class Origin(models.TextChoices):
    """How a spec came to be. `applied` rows have no number: they answer in one chat only."""

    CREATED = "created"
    DRAFT = "draft"
    APPLIED = "applied"
    RESTORED = "restored"
    IMPORTED = "imported"
    PUBLISHED = "published"


class AgentSpec(Identified):
    """The whole spec of an agent, immutable: a version (`number`), or a text applied in a chat (`number` null)."""

    agent = models.ForeignKey("actors.Actor", on_delete=models.CASCADE, related_name="specs")
    number = models.PositiveIntegerField(null=True)
    prompt = models.TextField(blank=True)
    model = models.CharField(max_length=200, blank=True)
    parameters = models.JSONField(default=dict)
    limits = models.JSONField(default=dict)
    memory = models.CharField(max_length=8, default="chat")
    message = models.CharField(max_length=400, blank=True, default="")
    origin = models.CharField(max_length=12, choices=Origin.choices)
    base_number = models.PositiveIntegerField(null=True)
    author = models.ForeignKey("actors.Actor", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["agent", "number"], condition=Q(number__isnull=False), name="versions_of_agent_numbered_once"
            ),
            models.CheckConstraint(
                condition=Q(origin="applied", number=None) | (~Q(origin="applied") & Q(number__isnull=False)),
                name="only_applied_texts_have_no_number",
            ),
        ]

    def __str__(self) -> str:
        return f"v{self.number}" if self.number else f"…{str(self.id)[-8:]}"

    @cached_property
    def tools(self) -> "list[AgentToolConfig]":
        """How it uses its tools, in their order; read with many specs by `with_tools`."""
        return list(self.tool_configs.all())

    def content(self) -> SpecContent:
        """The spec as a value; reads its tools."""
        return SpecContent.model_validate(
            {
                "prompt": self.prompt,
                "model": self.model,
                "parameters": self.parameters,
                "limits": self.limits,
                "memory": self.memory,
                "tools": [config.use() for config in self.tools],
            }
        )

    def row(self) -> SpecRow:
        return SpecRow(
            id=self.id, agent_id=self.agent_id, number=self.number, prompt=self.prompt, model=self.model,
            parameters=self.parameters, limits=self.limits, memory=self.memory,
            tools=[ToolConfigRow(**config.use()) for config in self.tools],
            message=self.message, origin=self.origin, base_number=self.base_number,
            author_id=self.author_id, created_at=self.created_at,
        )  # fmt: skip


def with_tools(of: str = "") -> "Prefetch[Any, Any, Any]":
    """Reads the tools of many specs at once (`of` leads to the spec, as in `current_spec__`): into a plain list, since a
    query set for each of them costs more than their rows."""
    return Prefetch(f"{of}tool_configs", to_attr="tools")


class AgentToolConfig(Identified):
    """How one spec uses one tool (S0.14). Hangs on the version, so that history and rollback are exact."""

    spec = models.ForeignKey(AgentSpec, on_delete=models.CASCADE, related_name="tool_configs")
    position = models.PositiveSmallIntegerField()
    tool = models.CharField(max_length=64)
    is_enabled = models.BooleanField(default=True)
    custom_config = models.JSONField(default=dict)
    usage_instructions = models.TextField(blank=True, default="")

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["spec", "tool"], name="each_tool_once_per_spec")]

    def __str__(self) -> str:
        return self.tool

    def use(self) -> dict[str, object]:
        """The fields of a `ToolUse`."""
        return {
            "tool": self.tool,
            "is_enabled": self.is_enabled,
            "custom_config": self.custom_config,
            "usage_instructions": self.usage_instructions,
        }


class Draft(Identified, InChat):
    """The draft of an agent in a chat: one live row per (chat, agent); save, suggest and discard end it (S0.7).

    `written` is being typed and changes nothing; `applied` answers in this chat. Hold = `holder` + `held_until` +
    `revision`, changed by compare-and-set only; `revision` is the fencing token (S0.8, C1–C3). `provenance` (a `Provenance`) and
    `votes` (`Tally`s) are as on the wire.
    """

    chat = models.ForeignKey(Chat, on_delete=models.CASCADE, related_name="drafts")
    agent = models.ForeignKey("actors.Actor", on_delete=models.CASCADE, related_name="drafts")
    written = models.JSONField()
    applied = models.ForeignKey(AgentSpec, null=True, on_delete=models.PROTECT, related_name="+")
    apply_count = models.PositiveIntegerField(default=0)
    revision = models.PositiveIntegerField(default=1)
    applied_revision = models.PositiveIntegerField(null=True)
    base_version = models.PositiveIntegerField()
    holder = models.ForeignKey("actors.Actor", null=True, on_delete=models.SET_NULL, related_name="held_drafts")
    held_until = models.DateTimeField(null=True)
    created_by = models.ForeignKey("actors.Actor", on_delete=models.PROTECT, related_name="+")
    updated_by = models.ForeignKey("actors.Actor", on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    ended_at = models.DateTimeField(null=True)
    ended_how = models.CharField(max_length=12, blank=True, default="")
    provenance = models.JSONField(null=True)
    votes = models.JSONField(default=list)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["chat", "agent"], condition=Q(ended_at=None), name="one_live_draft_per_chat_and_agent"
            ),
            models.CheckConstraint(
                condition=Q(holder=None, held_until=None) | Q(holder__isnull=False, held_until__isnull=False),
                name="a_hold_has_holder_and_end",
            ),
        ]
        indexes = [models.Index(fields=["holder"], condition=Q(ended_at=None), name="drafts_held_by")]

    def __str__(self) -> str:
        return called(self, "agent", "chat")

    @property
    def status(self) -> str:
        if self.ended_at:
            return "ended"
        return "applied" if self.applied_id and self.applied_revision == self.revision else "drafting"

    def row(self) -> DraftRow:
        applied = self.applied
        return DraftRow(
            id=self.id, chat_id=self.chat_id, version=self.version, agent_id=self.agent_id, status=self.status,
            written=self.written, applied=applied.content().as_json() if applied else None,
            applied_spec_id=self.applied_id, applied_by=applied.author_id if applied else None,
            apply_count=self.apply_count, revision=self.revision, base_version=self.base_version,
            holder_id=self.holder_id, held_until=self.held_until, created_by=self.created_by_id,
            updated_by=self.updated_by_id, updated_at=self.updated_at, ended_how=self.ended_how or None,
            provenance=self.provenance, votes=self.votes,
        )  # fmt: skip


class EarlierText(Identified):
    """What a draft said before the text of somebody else, or of a merge, took its place: nothing written is lost."""

    draft = models.ForeignKey(Draft, on_delete=models.CASCADE, related_name="earlier_texts")
    revision = models.PositiveIntegerField()
    written = models.JSONField()
    author = models.ForeignKey("actors.Actor", on_delete=models.PROTECT, related_name="+")
    why = models.CharField(max_length=12)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["draft", "revision"], name="each_revision_kept_once")]

    def __str__(self) -> str:
        return f"{called(self, 'draft')} · {self.revision}"

    def row(self) -> EarlierTextRow:
        return EarlierTextRow(
            id=self.id, draft_id=self.draft_id, revision=self.revision, written=self.written, author=self.author.row(),
            why=self.why, created_at=self.created_at,
        )  # fmt: skip


class DraftWish(Identified):
    """Somebody would like a draft that another person holds; used up when that hold ends.

    `is_waiting`: they are told when it is free. `asked_at`: when they asked its holder, once per hold.
    """

    draft = models.ForeignKey(Draft, on_delete=models.CASCADE, related_name="wishes")
    person = models.ForeignKey("actors.Actor", on_delete=models.CASCADE, related_name="+")
    is_waiting = models.BooleanField(default=False)
    asked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["draft", "person"], name="one_wish_per_draft_and_person")]

    def __str__(self) -> str:
        return f"{called(self, 'draft')} · {called(self, 'person')}"

    def row(self) -> DraftWishRow:
        return DraftWishRow(is_waiting=self.is_waiting, asked_at=self.asked_at)


class AgentGrant(UserObjectPermissionBase):
    """A verb that one person has on one agent beyond their role, e.g. one suggester may save it; given in the admin."""

    content_object = models.ForeignKey("actors.Actor", on_delete=models.CASCADE, related_name="grants")

    def __str__(self) -> str:
        return called(self, "user", "content_object")
