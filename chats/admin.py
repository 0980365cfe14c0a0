"""Chats, for operators. What was said in one is shown on request only, and that it was read is logged (S0.4)."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from actors.models import Actor
from chats import services as chats
from chats.models import Chat, ChatActor, ChatGrant, ChatLink, Message
from common.clock import now
from events import audit
from events.admin_deeds import Deed
from events.admin_lists import Related, When, among, linked, referred, short
from events.admin_pages import Read, operator_of, register
from events.payloads import PAYLOADS
from workspaces.admin import GrantAdmin, about


def revoke(link: ChatLink, operator: Actor) -> None:
    """The service, with the arguments of a deed."""
    chats.revoke_link(link=link, actor=operator)


def take_out(place: ChatActor, operator: Actor) -> None:
    """The service, with the arguments of a deed; the chat is held first, as its services want it."""
    chats.remove_member(chat=chats.hold_chat(place.chat_id), remover=operator, actor_id=place.actor_id)


register(
    Chat, "name", linked("workspace"), linked("created_by"), "version", "created_at",
    search_fields=("title", "workspace__name"), found_by=("workspace_id",), joined=("workspace", "created_by"),
    date_hierarchy="created_at", name=admin.display(description=_("title"), ordering="title")(lambda self, chat: str(chat)),
    related=(
        about(_("Participants"), "chats.chatactor", "chat"),
        about(_("Read the messages (logged)"), "chats.message", "chat"),
        about(_("Runs"), "agents.run", "chat"),
        about(_("Drafts"), "agents.draft", "chat"),
        about(_("Links"), "chats.chatlink", "chat"),
        about(_("Granted rights"), "chats.chatgrant", "content_object"),
        Related(_("Grant a right…"), "chats.chatgrant", "content_object", is_new=True),
        Related(_("Audit"), "events.auditrecord", "q"),
    ),
)  # fmt: skip


@admin.register(ChatActor)
class ChatActorAdmin(Read):
    list_display = ("joined_at", linked("actor"), linked("chat"), "wake", "last_read_seq", "ended_at")
    list_filter = ("wake", "actor__kind", When)
    search_fields = ("actor__name", "chat__title")
    found_by = ("actor_id", "chat_id")
    joined = ("actor", "chat")
    deeds = (
        Deed("take_out", _("Take out of the chat"), take_out, _("What they hold and run here ends with it."), "person_remove",
             when=lambda place: place.ended_at is None, is_grave=True),
    )  # fmt: skip


# What a line that is no text is about: a tool and its result, who did something to whom.
ABOUT = ("name", "status", "actor_name", "target_name", "code", "note")


@admin.display(description=_("text"))
def excerpt(message: Message) -> str:
    """How a message begins; of other lines, what they are about."""
    said = message.text or " ".join(str(message.payload[key]) for key in ABOUT if message.payload.get(key))
    return short(said, 200)


@admin.register(Message)
class MessageAdmin(Read):
    """Without a chat the list tells that something was said, not what. With one, it is the chat's log."""

    list_display = ("seq", "type", linked("author"), linked("chat"), referred("run_id", "agents.run"), "created_at")
    list_filter = (among("type", {name: name for name in PAYLOADS}), When)
    search_fields = ("author__name",)
    search_help_text = _("An author's name, or the id of a message, a chat, a run or an author")
    found_by = ("chat_id", "run_id", "author_id")
    leading = ("chat", "author", "type", "payload", "created_at")
    also = (referred("run_id", "agents.run", _("the run")),)
    joined = ("author", "chat")
    sortable_by = ()

    def get_list_display(self, request: HttpRequest) -> Any:
        return (*self.list_display[:3], excerpt, *self.list_display[4:]) if _chat_in(request) else self.list_display

    def get_ordering(self, request: HttpRequest) -> Any:
        return ("-seq",) if _chat_in(request) else ("-id",)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        answer = super().changelist_view(request, extra_context)
        asked = _chat_in(request)
        chat = Chat.objects.filter(pk=asked).first() if asked and answer.status_code == 200 else None
        if chat is not None:
            audit.record(
                operator_of(request), "chat.read_by_operator", workspace_id=chat.workspace_id, object_id=chat.id
            )  # fmt: skip
        return answer


def _chat_in(request: HttpRequest) -> UUID | None:
    """The chat to which the list is narrowed."""
    try:
        return UUID(request.GET.get("chat__id__exact", ""))
    except ValueError:
        return None


@admin.register(ChatLink)
class ChatLinkAdmin(Read):
    list_display = ("created_at", linked("chat"), "role", linked("created_by"), "expires_at", "revoked_at", "uses")
    list_filter = ("role", When)
    search_fields = ("chat__title", "created_by__name")
    found_by = ("chat_id", "created_by_id")
    hidden = ("token_hash",)
    joined = ("chat", "created_by")
    deeds = (
        Deed("revoke", _("Revoke"), revoke, _("Nobody comes in by it any more. Who came stays."), "link_off",
             when=lambda link: link.revoked_at is None and link.expires_at > now(), is_grave=True),
    )  # fmt: skip


admin.site.register(ChatGrant, GrantAdmin)
