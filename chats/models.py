"""Chats: who is in them, what was said and what happened. Everything in a chat is counted by one version."""

from typing import Any, Self

from django.db import models
from django.db.models import Q
from guardian.models import UserObjectPermissionBase

from common.models import Identified, called
from events.rows import AnyRow, ChatRow, LinkRow, MemberRow, MessageRow
from workspaces.models import Role, Workspace


class InChat(models.Model):
    """A row that belongs to a chat and is stamped with the chat's version whenever it changes.

    Only `chats.services.changed` writes such a row.
    """

    version = models.BigIntegerField(default=0)

    class Meta:
        abstract = True

    def set(self, **fields: Any) -> Self:
        """Change fields and remember which, so that `write` overwrites nothing that somebody else changed meanwhile."""
        for name, value in fields.items():
            setattr(self, name, value)
        self._touched = getattr(self, "_touched", frozenset[str]()) | fields.keys()
        return self

    def write(self) -> bool:
        """Store the stamped row: whole when new, else what `set` changed. False when it turned out not to be needed.

        Called by `chats.services.changed` only.
        """
        touched = None if self._state.adding else {"version", *getattr(self, "_touched", ())}
        self.save(update_fields=touched)
        return True

    def row(self) -> AnyRow:
        """As it goes over the wire."""
        raise NotImplementedError


class Chat(Identified, InChat):
    """A room in a workspace. `version` rises with every change of anything in it (architecture §3)."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="chats")
    title = models.CharField(max_length=120, blank=True, default="")
    created_by = models.ForeignKey("actors.Actor", null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        permissions = [("stop_run_chat", "Can stop any run here")]

    def __str__(self) -> str:
        return self.title or str(self.id)

    def row(self) -> ChatRow:
        return ChatRow(
            id=self.id, workspace_id=self.workspace_id, title=self.title, version=self.version,
            created_by=self.created_by_id, created_at=self.created_at,
        )  # fmt: skip


class Wake(models.TextChoices):
    """When an agent in a room of several answers: when mentioned or replied to, or always."""

    MENTION = "mention"
    ALWAYS = "always"


class ChatActor(Identified, InChat):
    """Somebody's place in a chat, the same for people and agents (S1.1).

    `last_read_seq`, the read cursor, is their own business: moving it changes nothing for the others, so it takes no
    number from the chat.
    """

    chat = models.ForeignKey(Chat, on_delete=models.CASCADE, related_name="places")
    actor = models.ForeignKey("actors.Actor", on_delete=models.CASCADE, related_name="places")
    wake = models.CharField(max_length=8, choices=Wake.choices, default=Wake.MENTION)
    last_read_seq = models.BigIntegerField(default=0)
    joined_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chat", "actor"], name="one_place_per_actor"),
            models.CheckConstraint(condition=Q(wake__in=Wake.values), name="wake_known"),
        ]
        indexes = [models.Index(fields=["actor", "chat"], condition=Q(ended_at=None), name="places_of_actor")]

    def __str__(self) -> str:
        return called(self, "actor", "chat")

    def row(self) -> MemberRow:
        return MemberRow(
            id=self.id, chat_id=self.chat_id, version=self.version, actor=self.actor.row(), wake=self.wake,
            joined_at=self.joined_at, ended=self.ended_at is not None,
        )  # fmt: skip


class Message(Identified, InChat):
    """One line of a chat's log (ADR-004). `seq` is the chat's version at its creation: the order of the timeline."""

    chat = models.ForeignKey(Chat, on_delete=models.CASCADE, related_name="messages")
    seq = models.BigIntegerField()
    author = models.ForeignKey("actors.Actor", null=True, on_delete=models.PROTECT, related_name="+")
    type = models.CharField(max_length=32)
    payload = models.JSONField()
    reply_to = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="+")
    run_id = models.UUIDField(null=True)
    created_at = models.DateTimeField()
    edited_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["chat", "seq"], name="one_message_per_seq"),
            models.CheckConstraint(
                condition=Q(type__in=["TEXT_MESSAGE", "FILE_MESSAGE", "THINKING", "TOOL_CALL", "TOOL_RESPONSE"],
                            author__isnull=False)
                | (~Q(type__in=["TEXT_MESSAGE", "FILE_MESSAGE", "THINKING", "TOOL_CALL", "TOOL_RESPONSE"])
                   & Q(author=None)),
                name="no_author_means_system",
            ),
        ]  # fmt: skip
        indexes = [
            models.Index(fields=["chat", "version"], name="messages_by_version"),
            models.Index(fields=["run_id"], condition=Q(run_id__isnull=False), name="messages_of_run"),
        ]

    def __str__(self) -> str:
        return f"{called(self, 'chat')} · {self.type} {self.seq}"

    @property
    def text(self) -> str:
        return str(self.payload.get("text", ""))

    def row(self) -> MessageRow:
        return MessageRow(
            id=self.id, chat_id=self.chat_id, version=self.version, seq=self.seq, author_id=self.author_id,
            type=self.type, payload=self.payload, reply_to=self.reply_to_id, run_id=self.run_id,
            created_at=self.created_at, edited_at=self.edited_at,
        )  # fmt: skip


class ChatLink(Identified):
    """A link that brings people into the workspace, with a role, and into this chat. Only the token's hash is kept."""

    chat = models.ForeignKey(Chat, on_delete=models.CASCADE, related_name="links")
    role = models.CharField(max_length=16, choices=Role.choices)
    token_hash = models.CharField(max_length=64, unique=True)
    created_by = models.ForeignKey("actors.Actor", on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    uses = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(role__in=Role.values), name="link_role_known")]

    def __str__(self) -> str:
        return f"{called(self, 'chat')} · {self.role}"

    def row(self, url: str | None = None) -> LinkRow:
        """`url` only when it has just been made: it is not kept."""
        return LinkRow(
            id=self.id, chat_id=self.chat_id, role=self.role, created_by=self.created_by_id,
            created_at=self.created_at, expires_at=self.expires_at, revoked_at=self.revoked_at, uses=self.uses, url=url,
        )  # fmt: skip


class ChatGrant(UserObjectPermissionBase):
    """A verb that one participant has on one chat beyond their role; given in the admin."""

    content_object = models.ForeignKey(Chat, on_delete=models.CASCADE, related_name="grants")

    def __str__(self) -> str:
        return called(self, "user", "content_object")
