"""The admin pages of versions, drafts and grants on agents."""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from actors.models import Actor
from admin_kit.actions import service_action
from admin_kit.changelist import CreatedWithinFilter
from admin_kit.links import RelatedLink, audit_link, link_column
from admin_kit.model_admin import ReadOnlyAdmin
from agents.models import AgentGrant, AgentSpec, Draft, DraftSnapshot, LockWaiter
from agents.services import drafts
from workspaces.admin import GrantAdmin

DRAFT_STATUS = {"drafting": _("drafting"), "applied": _("applied"), "ended": _("ended")}


@admin.register(Draft)
class DraftAdmin(ReadOnlyAdmin):
    list_display = (
        "updated_at",
        link_column("agent"),
        link_column("chat"),
        "status_label",
        link_column("lock_holder"),
        "lock_expires_at",
        "revision",
        "apply_count",
    )
    list_filter = ("outcome", CreatedWithinFilter)
    list_select_related = ("agent", "chat", "lock_holder")
    search_fields = ("agent__name", "chat__title", "lock_holder__name")
    search_id_fields = ("agent_id", "chat_id", "lock_holder_id")
    date_hierarchy = "created_at"
    readonly_fields = ("status_label",)
    related_links = (
        RelatedLink(_("Earlier texts"), "agents.draftsnapshot", "draft__id__exact"),
        RelatedLink(_("Draft requests"), "agents.lockwaiter", "draft__id__exact"),
        audit_link(),
    )
    audit_prefixes = ("draft",)
    actions = ("release_draft",)
    actions_detail = ("release_draft",)

    @admin.display(description=_("status"))
    def status_label(self, draft: Draft) -> str:
        """Return whether the draft is being edited, is applied in its chat, or has ended."""
        return str(DRAFT_STATUS[draft.status])

    @service_action(
        _("Free the lock"),
        _("Whoever is editing it must stop; the text stays, and others can edit it."),
        icon="lock_open",
        asks_reason=True,
        is_available=lambda draft: draft.ended_at is None and draft.lock_holder_id is not None,
    )
    def release_draft(self, draft: Draft, operator: Actor) -> None:
        drafts.release_draft(operator, draft.chat_id, draft.agent_id)


@admin.register(AgentSpec)
class AgentSpecAdmin(ReadOnlyAdmin):
    list_display = (
        "__str__",
        link_column("agent"),
        "origin",
        link_column("author"),
        "message",
        "model_name",
        "created_at",
    )
    list_filter = ("origin", CreatedWithinFilter)
    list_select_related = ("agent", "author")
    search_fields = ("agent__name", "message")
    search_id_fields = ("agent_id", "author_id")
    date_hierarchy = "created_at"
    related_links = (RelatedLink(_("Runs"), "runs.run", "spec__id__exact"),)

    @admin.display(description=_("model"), ordering="content__model")
    def model_name(self, spec: AgentSpec) -> str:
        return spec.parse_content().model


@admin.register(DraftSnapshot)
class DraftSnapshotAdmin(ReadOnlyAdmin):
    list_display = ("created_at", link_column("draft"), "revision", link_column("author"), "reason")
    list_filter = ("reason", CreatedWithinFilter)
    list_select_related = ("draft__agent", "draft__chat", "author")
    search_fields = ("draft__agent__name", "draft__chat__title", "author__name")
    search_id_fields = ("draft_id", "author_id")


@admin.register(LockWaiter)
class LockWaiterAdmin(ReadOnlyAdmin):
    list_display = ("created_at", link_column("draft"), link_column("person"), "wants_notice", "requested_at")
    list_filter = ("wants_notice", CreatedWithinFilter)
    list_select_related = ("draft__agent", "draft__chat", "person")
    search_fields = ("draft__agent__name", "draft__chat__title", "person__name")
    search_id_fields = ("draft_id", "person_id")


admin.site.register(AgentGrant, GrantAdmin)
