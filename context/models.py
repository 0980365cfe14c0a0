"""Summaries of the older messages of chats, corrections of them, and which strategy each agent uses in a chat."""

from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chats.models import Chat
from common.models import Identified, build_display_name
from events.row import Row
from workspaces.models import list_context_strategies


class Sentence(Row):
    """A sentence of a stored summary. `seqs`: the numbers of the messages that it is from, at least one."""

    id: UUID
    section: str = ""
    text: str
    seqs: list[int]


class SummaryState(models.TextChoices):
    """The state of a summary: a job writes it, it is ready, or the job failed."""

    WRITING = "writing", _("writing")
    READY = "ready", _("ready")
    FAILED = "failed", _("failed")


class HistorySummary(Identified):
    """A summary of the messages of a chat from `from_seq` to `through_seq`. The newest one that is ready counts.

    `sentences` are `Sentence` rows as JSON, as the model wrote them; corrections are applied when they are read. `base` is the
    summary that this one continues. `job_id` is the run that writes it, and reads at most `input_tokens` of new messages.
    `source_tokens`: an estimate for its messages.
    """

    chat = models.ForeignKey(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="summaries")
    base = models.ForeignKey("self", verbose_name=_("base"), null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(_("state"), max_length=8, choices=SummaryState.choices, default=SummaryState.WRITING)
    from_seq = models.BigIntegerField(_("from seq"))
    through_seq = models.BigIntegerField(_("through seq"))
    messages = models.PositiveIntegerField(_("messages"), default=0)
    sentences = models.JSONField(_("sentences"), default=list)
    tokens = models.PositiveIntegerField(_("tokens"), default=0)
    source_tokens = models.PositiveBigIntegerField(_("source tokens"), default=0)
    input_tokens = models.PositiveIntegerField(_("tokens of its input"), db_default=12_000)
    model = models.CharField(_("model"), max_length=200, blank=True, default="")
    job_id = models.UUIDField(_("job id"), null=True, unique=True)
    error_code = models.CharField(_("error code"), max_length=40, blank=True, default="")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended at"), null=True)

    class Meta:
        verbose_name = _("summary of a chat")
        verbose_name_plural = _("summaries of chats")
        constraints = [
            models.UniqueConstraint(fields=["chat"], condition=Q(state="writing"), name="one_summary_written_per_chat"),
            models.CheckConstraint(condition=Q(state__in=SummaryState.values), name="summary_state_known"),
        ]
        indexes = [models.Index(fields=["chat", "-created_at"], name="summaries_by_chat")]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'chat')} · {self.from_seq}–{self.through_seq}"

    def parse_sentences(self) -> list[Sentence]:
        return [Sentence.model_validate(sentence) for sentence in self.sentences]


class SummaryCorrection(Identified):
    """A sentence of a summary as a person has corrected it. It replaces `old_text` in this summary and in all later ones, until it
    is undone or corrected again."""

    chat = models.ForeignKey(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="summary_corrections")
    sentence_id = models.UUIDField(_("sentence id"))
    section = models.CharField(_("section"), max_length=80, blank=True, default="")
    old_text = models.TextField(_("old text"))
    new_text = models.TextField(_("new text"))
    seqs: Any = ArrayField(models.BigIntegerField(), verbose_name=_("seqs"), default=list)
    person = models.ForeignKey(
        "actors.Actor", verbose_name=_("person"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended at"), null=True)

    class Meta:
        verbose_name = _("correction of a summary")
        verbose_name_plural = _("corrections of summaries")
        constraints = [
            models.UniqueConstraint(
                fields=["chat", "sentence_id"], condition=Q(ended_at=None), name="one_correction_per_sentence"
            )
        ]

    def __str__(self) -> str:
        return build_display_name(self, "chat", "person")


class AgentContext(Identified):
    """The strategy by which an agent reads a chat that is too long for its model. There is none for chats that it has always read
    whole."""

    chat = models.ForeignKey(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="agent_contexts")
    agent = models.ForeignKey("actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="+")
    strategy = models.CharField(_("strategy"), max_length=12, choices=list_context_strategies)
    changed_at = models.DateTimeField(_("changed at"), auto_now=True)

    class Meta:
        verbose_name = _("context of an agent")
        verbose_name_plural = _("contexts of agents")
        constraints = [models.UniqueConstraint(fields=["chat", "agent"], name="one_context_per_chat_and_agent")]

    def __str__(self) -> str:
        return build_display_name(self, "chat", "agent")
