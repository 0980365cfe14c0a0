"""The admin pages of embedding models and embedded chats."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from actors.models import Actor
from admin_kit.actions import service_action
from admin_kit.links import link_column
from admin_kit.model_admin import ReadOnlyAdmin
from embeddings import services as embeddings
from embeddings.models import EmbeddedChat, EmbeddingModel, MessageEmbedding


@admin.register(EmbeddingModel)
class EmbeddingModelAdmin(ReadOnlyAdmin):
    list_display = ("provider", link_column("workspace"), "default_model", "api_base", "dimensions", "failed_at")
    list_filter = ("provider",)
    list_select_related = ("workspace",)
    search_fields = ("workspace__name", "default_model")
    search_id_fields = ("workspace_id",)
    exclude = ("encrypted_key", "failure_message")
    audit_prefixes = ("embedding_model",)
    actions = ("delete_key",)
    actions_detail = ("delete_key",)

    @service_action(
        _("Delete the key"),
        _("The stored key is deleted. No messages are embedded until an editor sets another."),
        icon="key_off",
        is_dangerous=True,
        is_available=lambda model: bool(model.encrypted_key),
    )
    def delete_key(self, model: EmbeddingModel, operator: Actor) -> None:
        embeddings.delete_embedding_key(operator, model.id)


@admin.register(EmbeddedChat)
class EmbeddedChatAdmin(ReadOnlyAdmin):
    list_display = (link_column("chat"), link_column("person"), "through_version", "due_at", "failures")
    list_select_related = ("chat", "person")
    search_fields = ("chat__title",)
    search_id_fields = ("chat_id", "person_id")
    sortable_by = ()


@admin.register(MessageEmbedding)
class MessageEmbeddingAdmin(ReadOnlyAdmin):
    list_display = (link_column("message"), link_column("chat"), "seq", "generation")
    list_select_related = ("message__chat", "chat")
    exclude = ("digest",)
    search_fields = ("chat__title",)
    search_id_fields = ("message_id", "chat_id")
    ordering = ("-message_id",)
    sortable_by = ()
