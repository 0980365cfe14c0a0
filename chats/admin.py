"""Chats, for operators."""

from django.contrib import admin

from actors.models import Actor
from chats import services as chats
from chats.models import Chat, ChatActor, ChatGrant, ChatLink, Message
from events.admin_pages import Read, each, register
from workspaces.admin import GrantAdmin


def revoke(link: ChatLink, operator: Actor) -> None:
    """The service, with the arguments of an action."""
    chats.revoke_link(link=link, actor=operator)


@admin.register(ChatLink)
class ChatLinkAdmin(Read):
    list_display = ("chat", "role", "created_by", "expires_at", "revoked_at", "uses")
    list_filter = ("role",)
    hidden = ("token_hash",)
    actions = (each(revoke, done="Revoked", label="Revoke links"),)


register(Chat, "title", "workspace", "version", "created_at", search=["title", "id", "workspace__name"])
register(
    ChatActor, "chat", "actor", "wake", "last_read_seq", "joined_at", "ended_at", search=["actor__name", "chat__id"]
)
register(
    Message, "chat", "seq", "type", "author", "created_at", search=["id", "chat__id", "run_id"], filters=["type"],
    ordering=["-created_at"],
)  # fmt: skip
admin.site.register(ChatGrant, GrantAdmin)
