"""What people were told of, for operators."""

from django.utils.translation import gettext_lazy as _

from events.admin_lists import When, among, linked, named, referred
from events.admin_pages import register
from notifications.models import Notification

TYPES = {
    "mention": _("mention"),
    "suggestion_created": _("suggestion made"),
    "suggestion_accepted": _("suggestion accepted"),
    "suggestion_rejected": _("suggestion rejected"),
    "suggestion_reopened": _("suggestion reopened"),
    "lock_lost": _("lock lost"),
    "draft_asked": _("draft asked for"),
    "draft_free": _("draft free"),
    "merge_done": _("merge done"),
    "merge_failed": _("merge failed"),
}

register(
    Notification, "created_at", linked("person"), named("type", TYPES), "actor_name", "agent_name", linked("workspace"),
    "read_at",
    search_fields=("person__name", "person__email", "actor_name", "agent_name"), list_filter=(among("type", TYPES), When),
    found_by=("person_id", "chat_id", "agent_id", "message_id", "suggestion_id", "merge_id"),
    joined=("person", "workspace"), sortable_by=(),
    also=(
        referred("chat_id", "chats.chat", _("chat")),
        referred("message_id", "chats.message", _("message")),
        referred("suggestion_id", "suggestions.suggestion", _("suggestion")),
        referred("merge_id", "suggestions.merge", _("merge")),
    ),
)  # fmt: skip
