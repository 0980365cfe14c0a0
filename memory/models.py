"""The memory of agents: notes, the history of their runs over all chats, and what each run has used of it."""

from datetime import datetime, timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from actors.models import Actor
from chats.models import Chat
from common.clock import now
from common.models import Identified, WithRevision, build_display_name
from events.rows import MemoryClearingRow, NoteRevisionRow, NoteRow, NoteScope, TextsOfOthers
from workspaces.models import Workspace

MAX_NOTE = 1_000
"""Characters of a note."""
MAX_TOPIC = 60
UNDO_HOURS = 24
"""Hours in which a person can undo a clearing, and in which a forgotten note can be restored."""

SCOPES = [(NoteScope.CHAT.value, _("where all may read its chat")), (NoteScope.WORKSPACE.value, _("everywhere"))]
READ_TEXTS = [
    (TextsOfOthers.NONE.value, _("of its person only")),
    (TextsOfOthers.OTHERS.value, _("of other participants")),
    (TextsOfOthers.OUTSIDE.value, _("from outside")),
]


class Note(Identified, WithRevision):
    """A short text that an agent, or a person for it, keeps for later runs.

    `chat` is where it was learnt: it may be used only where everybody may read that chat, unless an editor has set `scope` to the
    whole workspace. `read_texts`: whose texts the run that wrote it had read; a note never raises the rights of a run (FAIR8).
    A forgotten note is kept for `UNDO_HOURS`.
    """

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="notes"
    )
    agent = models.ForeignKey("actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="notes")
    chat = models.ForeignKey(Chat, verbose_name=_("chat"), null=True, on_delete=models.CASCADE, related_name="notes")
    text = models.CharField(_("text"), max_length=MAX_NOTE)
    topic = models.CharField(_("topic"), max_length=MAX_TOPIC, blank=True, default="")
    scope = models.CharField(_("scope"), max_length=12, choices=SCOPES, default=NoteScope.CHAT)
    author = models.ForeignKey("actors.Actor", verbose_name=_("author"), on_delete=models.PROTECT, related_name="+")
    message_id = models.UUIDField(_("message id"), null=True)
    run_id = models.UUIDField(_("run id"), null=True)
    on_behalf_of = models.ForeignKey(
        "actors.Actor", verbose_name=_("on behalf of"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    read_texts = models.CharField(_("read texts"), max_length=8, choices=READ_TEXTS, blank=True, default="")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    last_used_at = models.DateTimeField(_("last used at"), null=True)
    edited_at = models.DateTimeField(_("edited at"), null=True)
    edited_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("edited by"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    forgotten_at = models.DateTimeField(_("forgotten at"), null=True)
    forgotten_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("forgotten by"), null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        verbose_name = _("note")
        verbose_name_plural = _("notes")
        constraints = [
            models.CheckConstraint(
                condition=Q(chat__isnull=False) | Q(scope=NoteScope.WORKSPACE), name="note_without_chat_is_everywhere"
            ),
            models.CheckConstraint(condition=Q(scope__in=list(NoteScope)), name="note_scope_known"),
        ]
        indexes = [
            models.Index(fields=["agent", "-created_at"], condition=Q(forgotten_at=None), name="notes_of_agent"),
        ]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'agent')} · {self.text[:40]}"

    def to_row(self) -> NoteRow:
        """Return the row. `earlier_text` is annotated by `memory.selectors.annotate_notes`."""
        return NoteRow(
            id=self.id,
            agent_id=self.agent_id,
            text=self.text,
            topic=self.topic,
            scope=NoteScope(self.scope),
            revision=self.revision,
            author=self.author.to_row(),
            chat_id=self.chat_id,
            chat_title=self.chat.shown_title if self.chat else "",
            message_id=self.message_id,
            run_id=self.run_id,
            on_behalf_of=self.on_behalf_of.to_row() if self.on_behalf_of else None,
            read_texts=TextsOfOthers(self.read_texts),
            created_at=self.created_at,
            last_used_at=self.last_used_at,
            edited_at=self.edited_at,
            edited_by=self.edited_by.to_row() if self.edited_by else None,
            earlier_text=getattr(self, "earlier_text", None),
            forgotten_at=self.forgotten_at,
        )


class NoteRevision(Identified):
    """What a note was before a person changed it."""

    note = models.ForeignKey(Note, verbose_name=_("note"), on_delete=models.CASCADE, related_name="revisions")
    revision = models.PositiveIntegerField(_("revision"))
    text = models.CharField(_("text"), max_length=MAX_NOTE)
    topic = models.CharField(_("topic"), max_length=MAX_TOPIC, blank=True, default="")
    scope = models.CharField(_("scope"), max_length=12, choices=SCOPES)
    replaced_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("replaced by"), on_delete=models.PROTECT, related_name="+"
    )
    replaced_at = models.DateTimeField(_("replaced at"), auto_now_add=True)

    class Meta:
        verbose_name = _("earlier note")
        verbose_name_plural = _("earlier notes")
        constraints = [models.UniqueConstraint(fields=["note", "revision"], name="one_earlier_note_per_revision")]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'note')} · {self.revision}"

    def to_row(self) -> NoteRevisionRow:
        return NoteRevisionRow(
            revision=self.revision,
            text=self.text,
            topic=self.topic,
            scope=NoteScope(self.scope),
            replaced_by=self.replaced_by.to_row(),
            replaced_at=self.replaced_at,
        )


class MemoryClearing(Identified):
    """A clearing of an agent's history by a person: entries of the chats that this person may read are not used after it.

    Each raises the `generation` of the history by one. It can be undone for `UNDO_HOURS`; after that, its entries are deleted.
    """

    workspace = models.ForeignKey(Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey(
        "actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="memory_clearings"
    )
    generation = models.PositiveIntegerField(_("generation"))
    cleared_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("cleared by"), on_delete=models.PROTECT, related_name="+"
    )
    cleared_at = models.DateTimeField(_("cleared at"))
    count = models.PositiveIntegerField(_("count"), default=0)
    undone_at = models.DateTimeField(_("undone at"), null=True)

    class Meta:
        verbose_name = _("memory clearing")
        verbose_name_plural = _("memory clearings")
        constraints = [models.UniqueConstraint(fields=["agent", "generation"], name="one_clearing_per_generation")]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'agent')} · {self.generation}"

    @property
    def undo_until(self) -> datetime | None:
        """Until when it can be undone; null: not any more."""
        until = self.cleared_at + timedelta(hours=UNDO_HOURS)
        return until if self.undone_at is None and until > now() else None

    def to_row(self) -> MemoryClearingRow:
        return MemoryClearingRow(
            id=self.id,
            generation=self.generation,
            cleared_by=self.cleared_by.to_row(),
            cleared_at=self.cleared_at,
            entries=self.count,
            undo_until=self.undo_until,
        )


class HistoryEntry(Identified):
    """What one run of an agent read and did. It refers to messages of its chat: those of others from `first_seq` to `last_seq`, and
    those of the run. It holds no text of them, so that nothing outlives a message.

    `generation` is that of the history when the run read it. An entry with a `clearing` is not used.
    """

    workspace = models.ForeignKey(Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey("actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="history")
    chat = models.ForeignKey(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="+")
    run_id = models.UUIDField(_("run id"), unique=True)
    on_behalf_of = models.ForeignKey(
        "actors.Actor", verbose_name=_("on behalf of"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    first_seq = models.BigIntegerField(_("first seq"))
    last_seq = models.BigIntegerField(_("last seq"))
    outcome = models.CharField(_("outcome"), max_length=12)
    read_texts = models.CharField(_("read texts"), max_length=8, choices=READ_TEXTS, blank=True, default="")
    tokens = models.PositiveIntegerField(_("tokens"), default=0)
    generation = models.PositiveIntegerField(_("generation"))
    clearing = models.ForeignKey(
        MemoryClearing, verbose_name=_("clearing"), null=True, on_delete=models.CASCADE, related_name="entries"
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("history entry")
        verbose_name_plural = _("history entries")
        indexes = [models.Index(fields=["agent", "-created_at"], condition=Q(clearing=None), name="history_of_agent")]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'agent', 'chat')} · {self.outcome}"


class MemoryUse(Identified):
    """What one run has used of its agent's memory, and how much was withheld, by chat: a list of `WithheldMemory` as JSON."""

    workspace = models.ForeignKey(Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey("actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="+")
    chat = models.ForeignKey(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="+")
    run_id = models.UUIDField(_("run id"), unique=True)
    generation = models.PositiveIntegerField(_("generation"))
    note_ids = ArrayField(models.UUIDField(), verbose_name=_("note ids"), default=list)
    entry_ids = ArrayField(models.UUIDField(), verbose_name=_("entry ids"), default=list)
    withheld = models.JSONField(_("withheld"), default=list)
    tokens = models.PositiveIntegerField(_("tokens"), default=0)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("memory use")
        verbose_name_plural = _("memory uses")
        indexes = [models.Index(fields=["agent", "-created_at"], name="memory_uses_of_agent")]

    def __str__(self) -> str:
        return build_display_name(self, "agent", "chat")


def get_name(actor: Actor | None) -> str:
    """Return the name of an actor on one line; empty for none."""
    return " ".join(actor.name.split()) if actor else ""
