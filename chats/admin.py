"""The admin pages of chats. Operators see the messages of a chat only on request, and each request is recorded."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from actors.models import Actor
from admin_kit.actions import service_action
from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import RelatedLink, audit_link, id_column, link_column, short_name
from admin_kit.model_admin import ReadOnlyAdmin, get_operator
from chats import services as chats
from chats.models import Chat, ChatActor, ChatGrant, ChatLink, Message, MessageRevision, Thumb
from common.clock import now
from events import audit
from events.payloads import PAYLOADS
from workspaces.admin import GrantAdmin


@admin.register(Chat)
class ChatAdmin(ReadOnlyAdmin):
    list_display = ("name", link_column("workspace"), link_column("created_by"), "version", "created_at")
    list_select_related = ("workspace", "created_by")
    search_fields = ("title", "workspace__name")
    search_id_fields = ("workspace_id",)
    date_hierarchy = "created_at"
    related_links = (
        RelatedLink(_("Participants"), "chats.chatactor", "chat__id__exact"),
        RelatedLink(_("Read the messages (logged)"), "chats.message", "chat__id__exact"),
        RelatedLink(_("Runs"), "runs.run", "chat__id__exact"),
        RelatedLink(_("Drafts"), "agents.draft", "chat__id__exact"),
        RelatedLink(_("Links"), "chats.chatlink", "chat__id__exact"),
        RelatedLink(_("Granted access"), "chats.chatgrant", "content_object__id__exact"),
        RelatedLink(_("Grant access…"), "chats.chatgrant", "content_object", is_add=True),
        audit_link(),
    )
    audit_prefixes = ("chat",)

    @admin.display(description=_("title"), ordering="title")
    def name(self, chat: Chat) -> str:
        return str(chat)


@admin.register(ChatActor)
class ChatActorAdmin(ReadOnlyAdmin):
    list_display = ("joined_at", link_column("actor"), link_column("chat"), "response", "last_read_seq", "ended_at")
    list_filter = ("response", "actor__kind", CreatedWithinFilter)
    list_select_related = ("actor", "chat")
    search_fields = ("actor__name", "chat__title")
    search_id_fields = ("actor_id", "chat_id")
    actions = ("take_out",)
    actions_detail = ("take_out",)

    @service_action(
        _("Take out of the chat"),
        _("Their drafts and runs here end."),
        icon="person_remove",
        is_dangerous=True,
        is_available=lambda participant: participant.ended_at is None,
    )
    def take_out(self, participant: ChatActor, operator: Actor) -> None:
        chats.remove_participant(operator, participant.chat_id, participant.actor_id, as_operator=True)


class MessageTypeFilter(admin.SimpleListFilter):
    title = _("type")
    parameter_name = "type"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return [(name, name) for name in PAYLOADS]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Message]) -> QuerySet[Message]:
        return queryset.filter(type=self.value()) if self.value() else queryset


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    """The log of a chat if the list is filtered by one. Without this filter the list does not show the text of messages."""

    list_display = (
        "seq",
        "type",
        link_column("author"),
        link_column("chat"),
        id_column("run_id", "runs.run", _("run")),
        "created_at",
    )
    list_filter = (MessageTypeFilter, CreatedWithinFilter)
    list_select_related = ("author", "chat")
    search_fields = ("author__name",)
    search_help_text = _("An author's name, or the id of a message, a chat, a run or an author")
    search_id_fields = ("chat_id", "run_id", "author_id")
    sortable_by = ()
    first_fields = ("chat", "author", "type", "payload", "created_at")
    readonly_fields = (id_column("run_id", "runs.run", _("the run")),)
    # The keys of the payload that describe a message without a text: a tool and its result, or an event in the chat.
    PAYLOAD_KEYS = ("name", "status", "actor_name", "target_name", "code", "note")

    def get_list_display(self, request: HttpRequest) -> Any:
        if _get_chat_id(request) is None:
            return self.list_display
        # The text takes the place of the chat, which is the same in all rows.
        return (*self.list_display[:3], "excerpt", *self.list_display[4:])

    def get_ordering(self, request: HttpRequest) -> Any:
        return ("-id",) if _get_chat_id(request) is None else ("-seq",)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        response = super().changelist_view(request, extra_context)
        chat_id = _get_chat_id(request)
        chat = Chat.objects.filter(pk=chat_id).first() if chat_id and response.status_code == 200 else None
        if chat is not None:
            audit.record(
                get_operator(request), "chat.read_by_operator", workspace_id=chat.workspace_id, object_id=chat.id
            )
        return response

    @admin.display(description=_("text"))
    def excerpt(self, message: Message) -> str:
        payload = message.payload
        return short_name(message.text or " ".join(str(payload[k]) for k in self.PAYLOAD_KEYS if payload.get(k)), 200)


def _get_chat_id(request: HttpRequest) -> UUID | None:
    """Return the id of the chat by which the list is filtered."""
    try:
        return UUID(request.GET.get("chat__id__exact", ""))
    except ValueError:
        return None


@admin.register(MessageRevision)
class MessageRevisionAdmin(ReadOnlyAdmin):
    list_display = ("replaced_at", link_column("message"), "written_at", link_column("replaced_by"))
    list_filter = (CreatedWithinFilter,)
    list_select_related = ("message__author", "message__chat", "replaced_by")
    search_id_fields = ("message_id", "replaced_by_id")
    sortable_by = ()


@admin.register(Thumb)
class ThumbAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        "value",
        "reason",
        link_column("agent"),
        link_column("person"),
        link_column("chat"),
        "agent_version",
        "draft_apply",
    )
    list_filter = ("value", "reason", CreatedWithinFilter)
    list_select_related = ("agent", "person", "chat")
    search_fields = ("agent__name", "person__name")
    search_id_fields = ("chat_id", "message_id", "agent_id", "person_id")


@admin.register(ChatLink)
class ChatLinkAdmin(ReadOnlyAdmin):
    list_display = (
        "created_at",
        link_column("chat"),
        "role",
        link_column("created_by"),
        "expires_at",
        "revoked_at",
        "uses",
    )
    list_filter = ("role", CreatedWithinFilter)
    list_select_related = ("chat", "created_by")
    search_fields = ("chat__title", "created_by__name")
    search_id_fields = ("chat_id", "created_by_id")
    exclude = ("token_hash",)
    audit_prefixes = ("link",)
    actions = ("revoke",)
    actions_detail = ("revoke",)

    @service_action(
        _("Revoke"),
        _("The link stops working. Those who joined stay."),
        icon="link_off",
        is_dangerous=True,
        is_available=lambda chat_link: chat_link.revoked_at is None and chat_link.expires_at > now(),
    )
    def revoke(self, chat_link: ChatLink, operator: Actor) -> None:
        chats.revoke_link(operator, chat_link.pk, as_operator=True)


admin.site.register(ChatGrant, GrantAdmin)
