"""Chats, their participants and messages. Each change of a chat that a durable frame publishes raises the version of the chat."""

from typing import ClassVar
from uuid import UUID

from django.db import models
from django.db.models import F, Func, Q
from django.db.models.functions import Cast, Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from common.models import Identified, ObjectGrant, build_display_name
from events.rows import (
    MESSAGE_ROWS,
    ChatRow,
    LinkRow,
    MessageRevisionRow,
    MessageRow,
    ParticipantRow,
    ResponseMode,
    Role,
    RowOfChat,
    ThumbReason,
    ThumbRow,
    ThumbValue,
)
from llm.tokens import estimate_tokens
from workspaces.models import Workspace


class VersionedRow(models.Model):
    """A row that belongs to a chat and gets the chat's new version with every change that a durable frame publishes.

    Only `chats.services.save_changes` writes such a change. Each subclass is registered as a kind of rows (`RowKind`).
    """

    has_own_version: ClassVar[bool] = False
    """Whether each new row gets a version of its own. Rows of other classes share the last version of the same `save_changes`."""
    ignores_conflicts: ClassVar[bool] = False
    """Whether a new row that conflicts with a stored one is left out instead of being an error."""

    version = models.BigIntegerField(_("version"), default=0)

    class Meta:
        abstract = True

    def assign_version(self, version: int) -> None:
        """Set the version of a new row, and the fields that depend on it."""
        self.version = version

    @property
    def counts_as_unread(self) -> bool:
        """Whether the new row counts as unread for the other participants."""
        return False

    def to_row(self) -> RowOfChat:
        """Return the row for REST responses and frames."""
        raise NotImplementedError


class Chat(Identified, VersionedRow):
    """A chat in a workspace. Its `version` rises with each published change of a row in it (`VersionedRow`)."""

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="chats"
    )
    title = models.CharField(_("title"), max_length=120, blank=True, default="")
    created_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("created by"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    # Of a direct chat: the ids of its two actors, as `build_pair_key` returns them; null for all others.
    pair_key = models.CharField(_("pair key"), max_length=80, null=True, blank=True)
    # Whether it is the direct chat of two agents, which no person is in.
    is_between_agents = models.BooleanField(_("is between agents"), default=False)
    # The number of its pinned messages, which every client shows without reading them.
    pin_count = models.PositiveSmallIntegerField(_("pinned messages"), default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "pair_key"], name="one_direct_chat_per_pair"),
            models.CheckConstraint(
                condition=Q(pair_key__isnull=False) | Q(is_between_agents=False), name="between_agents_is_direct"
            ),
            models.CheckConstraint(condition=Q(pair_key=None) | Q(title=""), name="direct_chat_has_no_title"),
        ]
        verbose_name = _("chat")
        verbose_name_plural = _("chats")
        permissions = [("stop_run_chat", gettext_noop("Can stop any run here"))]

    def __str__(self) -> str:
        return self.title or str(self.id)

    def to_row(self) -> ChatRow:
        return ChatRow(
            id=self.id,
            workspace_id=self.workspace_id,
            title=self.title,
            version=self.version,
            created_by=self.created_by_id,
            created_at=self.created_at,
            is_direct=self.is_direct,
            is_between_agents=self.is_between_agents,
            pin_count=self.pin_count,
        )

    # Of a chat without a title: the names of the others, joined to one text, once `chats.selectors.load_titles` has set them.
    names = ""

    @property
    def shown_title(self) -> str:
        """The title, or the names of the others if `load_titles` has read them."""
        return self.title or self.names

    @property
    def is_direct(self) -> bool:
        """Whether it is a chat of exactly two actors, unique for the pair in its workspace, which nobody can join."""
        return self.pair_key is not None


def build_pair_key(first_id: UUID, second_id: UUID) -> str:
    """Return the `pair_key` of the direct chat of two actors, which does not depend on their order."""
    return ":".join(sorted(map(str, (first_id, second_id))))


IMPORTANT_TYPES = (
    "FILE_MESSAGE",
    "SPEC_SAVED",
    "DRAFT_APPLIED",
    "DRAFT_MERGED",
    "SUGGESTION_ACCEPTED",
    "APPROVAL_DECIDED",
)
"""The types of older messages that models read even if the chat is too long for them: files, decisions, and changes of agents."""
SPOKEN_TYPES = ("TEXT_MESSAGE", "FILE_MESSAGE")
"""The types of messages in which people and agents speak."""
IS_SPOKEN = Q(type__in=SPOKEN_TYPES, metadata__isnull=True, is_unused=False)
"""The condition for messages that count as unread, wake agents, and are shown as the last message in the list of chats: texts and
files of people and agents, without those of sub-agents and of answers that are not in use."""
PINNABLE_TYPES = ("TEXT_MESSAGE", "FILE_MESSAGE")


class ChatActor(Identified, VersionedRow):
    """An actor in a chat: a person or an agent.

    Moving the read cursor of a person, `last_read_seq`, changes nothing for the others, so it does not raise the chat's version.
    Moving the cursor of an agent raises the version and is published: everybody sees how far the agent has read.
    """

    chat = models.ForeignKey(
        Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="participants", db_index=False
    )
    actor = models.ForeignKey(
        "actors.Actor", verbose_name=_("actor"), on_delete=models.CASCADE, related_name="participants"
    )
    response = models.CharField(
        _("response"), max_length=8, choices=ResponseMode.choices, default=ResponseMode.MENTIONS
    )
    # Whether somebody has set `response`. Else it changes when people and agents join (`chats/services/responses.py`).
    is_response_chosen = models.BooleanField(_("is response chosen"), default=False)
    last_read_seq = models.BigIntegerField(_("last read seq"), default=0)
    joined_at = models.DateTimeField(_("joined at"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    # When another actor last removed them. They cannot join again by an older invite link.
    removed_at = models.DateTimeField(_("removed at"), null=True, blank=True)
    # Of a direct chat: it is hidden from this actor's list of chats until a message after this seq.
    hidden_seq = models.BigIntegerField(_("hidden seq"), null=True, blank=True)
    # This person has muted the chat until `muted_until`; null: for good.
    is_muted = models.BooleanField(_("is muted"), default=False)
    muted_until = models.DateTimeField(_("muted until"), null=True, blank=True)
    # It is in the archive of this person until they are mentioned in it.
    is_archived = models.BooleanField(_("is archived"), default=False)

    class Meta:
        verbose_name = _("participant")
        verbose_name_plural = _("participants")
        constraints = [
            models.UniqueConstraint(fields=["chat", "actor"], name="one_participant_per_actor"),
            models.CheckConstraint(condition=Q(response__in=ResponseMode.values), name="response_known"),
            models.CheckConstraint(condition=Q(is_muted=True) | Q(muted_until=None), name="only_muted_chat_has_end"),
        ]
        indexes = [models.Index(fields=["actor", "chat"], condition=Q(ended_at=None), name="participants_by_actor")]

    def __str__(self) -> str:
        return build_display_name(self, "actor", "chat")

    def to_row(self) -> ParticipantRow:
        return ParticipantRow(
            id=self.id,
            chat_id=self.chat_id,
            version=self.version,
            actor=self.actor.to_row(),
            response=self.response,
            joined_at=self.joined_at,
            ended=self.ended_at is not None,
            last_read_seq=self.last_read_seq if self.actor.is_agent else None,
        )


class Message(Identified, VersionedRow):
    """A message of a chat's log. `seq` is the chat's version when it was created, and the order of the log."""

    has_own_version = True

    chat = models.ForeignKey(
        Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="messages", db_index=False
    )
    seq = models.BigIntegerField(_("seq"))
    author = models.ForeignKey(
        "actors.Actor", verbose_name=_("author"), null=True, on_delete=models.PROTECT, related_name="+"
    )
    type = models.CharField(_("type"), max_length=32)
    payload = models.JSONField(_("payload"))
    # Kept beside the row: reading the size of a large payload would cost as much as reading the payload.
    payload_bytes = models.GeneratedField(
        verbose_name=_("payload bytes"),
        expression=Func(Cast(F("payload"), models.TextField()), function="octet_length"),
        output_field=models.IntegerField(),
        db_persist=True,
    )
    reply_to = models.ForeignKey(
        "self", verbose_name=_("reply to"), null=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    run_id = models.UUIDField(_("run id"), null=True)
    # Of messages of sub-agents only (`MessageMetadata`), which are not part of the conversation.
    metadata = models.JSONField(_("metadata"), null=True)
    # An estimate for the models that read it. Null: the message is older than this column.
    tokens = models.IntegerField(_("tokens"), null=True)
    created_at = models.DateTimeField(_("created at"))
    edited_at = models.DateTimeField(_("edited at"), null=True)
    deleted_at = models.DateTimeField(_("deleted at"), null=True)
    pinned_at = models.DateTimeField(_("pinned at"), null=True)
    pinned_by = models.ForeignKey(
        "actors.Actor",
        verbose_name=_("pinned by"),
        null=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
    )

    # Of the rows of another answer of an agent: the `seq` of the first row of the first answer of its group, whose position in the
    # conversation it takes. Null for all other messages.
    group_seq = models.BigIntegerField(_("group seq"), null=True)
    # Whether it is in an answer that agents do not read: another one of its group is in use, or this one is not complete.
    is_unused = models.BooleanField(_("is unused"), default=False, db_default=False)
    # A list of `Reaction`, in the order in which its emojis were first used; null: none.
    reactions = models.JSONField(_("reactions"), null=True)
    # Of answers of agents: who finds them good or bad (`AnswerThumbs`), copied from `Thumb`. Null: nobody has given a thumb.
    thumbs = models.JSONField(_("thumbs"), null=True)

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        constraints = [
            models.UniqueConstraint(fields=["chat", "seq"], name="one_message_per_seq"),
            models.CheckConstraint(
                condition=Q(
                    type__in=["TEXT_MESSAGE", "FILE_MESSAGE", "THINKING", "TOOL_CALL", "TOOL_RESPONSE"],
                    author__isnull=False,
                )
                | (
                    ~Q(type__in=["TEXT_MESSAGE", "FILE_MESSAGE", "THINKING", "TOOL_CALL", "TOOL_RESPONSE"])
                    & Q(author=None)
                ),
                name="author_by_type",
            ),
            models.CheckConstraint(
                condition=Q(pinned_at=None, pinned_by=None)
                | Q(pinned_at__isnull=False, type__in=PINNABLE_TYPES, metadata__isnull=True),
                name="pinned_is_pinnable",
            ),
        ]
        indexes = [
            models.Index(fields=["chat", "version"], name="messages_by_version"),
            models.Index(fields=["run_id"], condition=Q(run_id__isnull=False), name="messages_of_run"),
            models.Index(fields=["reply_to"], condition=Q(reply_to__isnull=False), name="replies_to_message"),
            models.Index(fields=["chat"], condition=Q(type="TOOL_RESPONSE"), name="tool_responses_of_chat"),
            models.Index(
                fields=["-created_at", "-id"],
                condition=Q(type__in=SPOKEN_TYPES, metadata__isnull=True),
                name="spoken_by_time",
            ),
            models.Index(
                fields=["chat", "-seq"],
                condition=Q(type__in=IMPORTANT_TYPES, metadata__isnull=True),
                name="important_messages",
            ),
            models.Index(
                fields=["chat", "-pinned_at", "-id"], condition=Q(pinned_at__isnull=False), name="pinned_messages"
            ),
            models.Index(
                fields=["chat", "group_seq"], condition=Q(group_seq__isnull=False), name="messages_of_other_answers"
            ),
            models.Index(fields=["pinned_by"], condition=Q(pinned_by__isnull=False), name="messages_pinned_by"),
        ]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'chat')} · {self.type} {self.seq}"

    def assign_version(self, version: int) -> None:
        self.seq = self.version = version
        self.tokens = estimate_tokens(f"{self.text}{self.payload.get('arguments', '')}")

    @property
    def counts_as_unread(self) -> bool:
        return self.type in SPOKEN_TYPES and self.metadata is None

    @property
    def text(self) -> str:
        return str(self.payload.get("text", ""))

    def to_row(self) -> MessageRow:
        return MESSAGE_ROWS[self.type](
            type=self.type,
            id=self.id,
            chat_id=self.chat_id,
            version=self.version,
            seq=self.seq,
            author_id=self.author_id,
            payload=self.payload,
            reply_to=self.reply_to_id,
            run_id=self.run_id,
            metadata=self.metadata,
            created_at=self.created_at,
            edited_at=self.edited_at,
            deleted_at=self.deleted_at,
            pinned_at=self.pinned_at,
            pinned_by=self.pinned_by_id,
            reactions=self.reactions,
            thumbs=self.thumbs,
            group_seq=self.group_seq,
            is_unused=self.is_unused,
        )


MAX_THUMB_TEXT = 500
"""Characters that a person writes with a thumb."""


class Thumb(Identified):
    """What a person thinks of an answer of an agent. It belongs to the version or the draft that answered: null for an outside
    program, which has neither. `draft_apply` is the n of `r<n>`."""

    chat = models.ForeignKey(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="thumbs")
    message = models.ForeignKey(
        Message, verbose_name=_("message"), on_delete=models.CASCADE, related_name="+", db_index=False
    )
    agent = models.ForeignKey(
        "actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="+", db_index=False
    )
    person = models.ForeignKey("actors.Actor", verbose_name=_("person"), on_delete=models.CASCADE, related_name="+")
    value = models.CharField(_("value"), max_length=4, choices=ThumbValue.choices)
    reason = models.CharField(_("reason"), max_length=16, choices=ThumbReason.choices, blank=True, default="")
    text = models.CharField(_("text"), max_length=MAX_THUMB_TEXT, blank=True, default="")
    spec_id = models.UUIDField(_("spec id"), null=True)
    agent_version = models.IntegerField(_("version"), null=True)
    draft_apply = models.IntegerField(_("draft apply"), null=True)
    created_at = models.DateTimeField(_("created at"))

    class Meta:
        verbose_name = _("thumb")
        verbose_name_plural = _("thumbs")
        constraints = [
            models.UniqueConstraint(fields=["message", "person"], name="one_thumb_per_person"),
            models.CheckConstraint(condition=Q(value__in=ThumbValue.values), name="thumb_value_known"),
            models.CheckConstraint(condition=Q(reason__in=["", *ThumbReason.values]), name="thumb_reason_known"),
        ]
        indexes = [models.Index(fields=["agent", "-created_at", "-id"], name="thumbs_of_agent")]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'person', 'agent')} · {self.value}"

    def to_row(self) -> ThumbRow:
        return ThumbRow(
            message_id=self.message_id,
            value=self.value,
            reason=self.reason or None,
            text=self.text,
            created_at=self.created_at,
        )


class MessageRevision(Identified):
    """An earlier text of a message. Those who may read the chat may read it; once the message is deleted, only editors may."""

    message = models.ForeignKey(
        Message, verbose_name=_("message"), on_delete=models.CASCADE, related_name="revisions", db_index=False
    )
    text = models.TextField(_("text"))
    written_at = models.DateTimeField(_("written at"))
    replaced_at = models.DateTimeField(_("replaced at"))
    replaced_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("replaced by"), null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        verbose_name = _("earlier text")
        verbose_name_plural = _("earlier texts")
        indexes = [models.Index(fields=["message", "replaced_at"], name="revisions_of_message")]

    def __str__(self) -> str:
        return build_display_name(self, "message")

    def to_row(self) -> MessageRevisionRow:
        return MessageRevisionRow(
            id=self.id,
            message_id=self.message_id,
            text=self.text,
            written_at=self.written_at,
            replaced_at=self.replaced_at,
            replaced_by=self.replaced_by_id,
        )


class ChatLinks(models.QuerySet["ChatLink"]):
    """The query set of invite links."""

    def valid(self) -> "ChatLinks":
        """Return those that are not revoked, expired or used up."""
        unused = Q(max_uses=None) | Q(uses__lt=F("max_uses"))
        return self.filter(unused, revoked_at=None, expires_at__gt=Now())


class ChatLink(Identified):
    """An invite link: people join the workspace by it, with a role, and this chat. Only a hash of its token is stored."""

    chat = models.ForeignKey(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="links")
    role = models.CharField(_("role"), max_length=16, choices=Role.choices)
    token_hash = models.CharField(_("token hash"), max_length=64, unique=True)
    created_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("created by"), on_delete=models.CASCADE, related_name="+"
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires at"))
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)
    uses = models.PositiveIntegerField(_("uses"), default=0)
    # The number of people who can join by the link; null: any number.
    max_uses = models.PositiveIntegerField(_("max uses"), null=True, blank=True)

    objects = ChatLinks.as_manager()

    class Meta:
        verbose_name = _("link")
        verbose_name_plural = _("links")
        constraints = [
            models.CheckConstraint(condition=Q(role__in=Role.values), name="link_role_known"),
            models.CheckConstraint(condition=Q(max_uses=None) | Q(max_uses__gte=1), name="link_max_uses_positive"),
        ]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'chat')} · {self.role}"

    def to_row(self, url: str | None = None) -> LinkRow:
        """Return the row. Only the service that creates the link has its `url`, which is not stored."""
        return LinkRow(
            id=self.id,
            chat_id=self.chat_id,
            role=self.role,
            created_by=self.created_by_id,
            created_at=self.created_at,
            expires_at=self.expires_at,
            revoked_at=self.revoked_at,
            uses=self.uses,
            max_uses=self.max_uses,
            url=url,
        )


class ChatGrant(ObjectGrant):
    """A verb that a participant has on a chat beyond those of their role. Operators grant it in the admin."""

    content_object = models.ForeignKey(
        Chat, verbose_name=_("content object"), on_delete=models.CASCADE, related_name="grants"
    )

    class Meta(ObjectGrant.Meta):
        verbose_name = _("access to a chat")
        verbose_name_plural = _("access to chats")
