"""The settings of django-unfold, the theme of the admin: colours, style sheets and navigation."""

from typing import TYPE_CHECKING, Any

from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


def _build_entry(title: "StrOrPromise", icon: str, table: str, query: str = "") -> dict[str, Any]:
    """Return the entry of the menu that leads to the list of a table, or to the part of it that `query` selects."""
    app, model = table.split("_", 1)
    link = reverse_lazy(f"admin:{table}_changelist")
    entry: dict[str, Any] = {
        "title": title,
        "icon": icon,
        "link": link,
        "permission": lambda request: request.user.has_perm(f"{app}.view_{model}"),
    }
    if query:
        # The settings import this module, before URLs can be reversed, so the link is built when it is shown.
        entry["link"] = lambda request: f"{link}?{query}"
        # A table can have two entries: only the one that leads to the current page is active.
        entry["active"] = lambda request: request.path.startswith(str(link)) and query in request.GET.urlencode()
    return entry


NAVIGATION: list[dict[str, Any]] = [
    {"items": [{"title": _("Overview"), "icon": "dashboard", "link": reverse_lazy("admin:index")}]},
    {
        "title": _("Workspaces & people"),
        "separator": True,
        "items": [
            _build_entry(_("Workspaces"), "domain", "workspaces_workspace"),
            _build_entry(_("People"), "person", "actors_actor", "kind__exact=human"),
            _build_entry(_("Memberships"), "badge", "workspaces_membership"),
            _build_entry(_("Past memberships"), "history", "workspaces_pastmembership"),
            _build_entry(_("Memberships of deleted workspaces"), "auto_delete", "workspaces_deletedmembership"),
            _build_entry(_("Links"), "link", "chats_chatlink"),
            _build_entry(_("API tokens"), "api", "actors_apitoken"),
            _build_entry(_("Changes of email"), "alternate_email", "actors_emailchange"),
            _build_entry(_("Notifications"), "notifications", "notifications_notification"),
        ],
    },
    {
        "title": _("Agents"),
        "separator": True,
        "items": [
            _build_entry(_("Agents"), "smart_toy", "actors_actor", "kind__exact=agent"),
            _build_entry(_("Versions"), "history", "agents_agentspec"),
            _build_entry(_("Drafts"), "edit_note", "agents_draft"),
            _build_entry(_("Draft requests"), "notifications_active", "agents_lockwaiter"),
            _build_entry(_("Earlier texts"), "restore_page", "agents_draftsnapshot"),
            _build_entry(_("Schedules"), "schedule", "schedules_schedule"),
            _build_entry(_("Scheduled times"), "event_available", "schedules_scheduledtime"),
            _build_entry(_("Suggestions"), "rate_review", "suggestions_suggestion"),
            _build_entry(_("Merges"), "merge", "suggestions_merge"),
            _build_entry(_("Public agents"), "public", "publishing_listing"),
            _build_entry(_("Uses of public agents"), "group_work", "publishing_agentuse"),
            _build_entry(_("Pending updates"), "update", "publishing_pendingupdate"),
            _build_entry(_("Reports"), "flag", "publishing_agentreport"),
            _build_entry(_("Webhooks"), "webhook", "webhooks_webhook"),
            _build_entry(_("Deliveries"), "outgoing_mail", "webhooks_delivery"),
            _build_entry(_("Agent wakes"), "notifications_active", "webhooks_agentwake"),
        ],
    },
    {
        "title": _("Chats & runs"),
        "separator": True,
        "items": [
            _build_entry(_("Chats"), "forum", "chats_chat"),
            _build_entry(_("Participants"), "group", "chats_chatactor"),
            _build_entry(_("Messages"), "chat", "chats_message"),
            _build_entry(_("Earlier texts of messages"), "history_edu", "chats_messagerevision"),
            _build_entry(_("Thumbs"), "thumbs_up_down", "chats_thumb"),
            _build_entry(_("Files"), "draft", "files_file"),
            _build_entry(_("Approvals"), "approval", "approvals_approval"),
            _build_entry(_("Summaries"), "summarize", "context_historysummary"),
            _build_entry(_("Corrections of summaries"), "edit", "context_summarycorrection"),
            _build_entry(_("Contexts of agents"), "data_usage", "context_agentcontext"),
            _build_entry(_("Embedded chats"), "hub", "embeddings_embeddedchat"),
            _build_entry(_("Embeddings of messages"), "scatter_plot", "embeddings_messageembedding"),
            _build_entry(_("Agent notes"), "sticky_note_2", "memory_note"),
            _build_entry(_("Earlier notes"), "history", "memory_noterevision"),
            _build_entry(_("History of agents"), "neurology", "memory_historyentry"),
            _build_entry(_("Memory clearings"), "mop", "memory_memoryclearing"),
            _build_entry(_("Memory uses"), "manage_search", "memory_memoryuse"),
            _build_entry(_("Runs"), "bolt", "runs_run"),
            _build_entry(_("Steps"), "list", "runs_step"),
            _build_entry(_("Boards"), "view_kanban", "boards_board"),
            _build_entry(_("Tasks of boards"), "task", "boards_boardtask"),
            _build_entry(_("Edges of boards"), "arrow_right_alt", "boards_taskedge"),
            _build_entry(_("Results of tasks"), "task_alt", "boards_taskresult"),
        ],
    },
    {
        "title": _("Governance"),
        "separator": True,
        "items": [
            _build_entry(_("Audit"), "receipt_long", "events_auditrecord"),
            _build_entry(_("Viewings as people"), "visibility", "actors_viewing"),
            _build_entry(_("Model calls"), "payments", "usage_llmcall"),
            _build_entry(_("Budgets"), "savings", "usage_budget"),
            _build_entry(_("Balances"), "account_balance", "usage_balance"),
            _build_entry(_("Reservations"), "lock_clock", "usage_reservation"),
            _build_entry(_("Prices"), "sell", "usage_modelprice"),
            _build_entry(_("Token factors"), "straighten", "usage_tokenfactor"),
            _build_entry(_("Models and keys"), "key", "workspaces_credential"),
            _build_entry(_("Embedding models"), "scatter_plot", "embeddings_embeddingmodel"),
            _build_entry(_("People's own models"), "person_shield", "llm_llmprofile"),
            _build_entry(_("Policies for models"), "policy", "llm_llmpolicy"),
            _build_entry(_("Tool servers"), "dns", "tools_toolserver"),
            _build_entry(_("Tool server sign-ins"), "passkey", "tools_serverauthorization"),
            _build_entry(_("Workspace tools"), "handyman", "tools_workspacetool"),
            _build_entry(_("Tool policies"), "policy", "tools_toolpolicy"),
            _build_entry(_("Access to workspaces"), "shield_person", "workspaces_workspacegrant"),
            _build_entry(_("Access to chats"), "shield_person", "chats_chatgrant"),
            _build_entry(_("Access to agents"), "shield_person", "agents_agentgrant"),
        ],
    },
]

# The colours of the web app (frontend/src/styles/tokens.css).
GREY = {
    "50": "#faf9f7",
    "100": "#f1f0ec",
    "200": "#e6e4de",
    "300": "#cfccc3",
    "400": "#989590",
    "500": "#67655e",
    "600": "#55534d",
    "700": "#403e3a",
    "800": "#2c2b28",
    "900": "#171716",
    "950": "#10100f",
}
PINE = {
    "50": "#eef7f4",
    "100": "#e2f1ed",
    "200": "#c6e5dd",
    "300": "#a3d2c7",
    "400": "#74d6c3",
    "500": "#56c7b1",
    "600": "#0a6a5c",
    "700": "#08564b",
    "800": "#12302a",
    "900": "#0e2a24",
    "950": "#08211c",
}

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": _("Atelier · Operators"),
    "SITE_HEADER": "Atelier",
    "SITE_SUBHEADER": _("Operators"),
    "SITE_SYMBOL": "handyman",
    "SITE_ICON": lambda request: static("operators/icon.svg"),
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("operators/icon.svg")}],
    "SITE_URL": "/",
    "SHOW_LANGUAGES": True,
    "LANGUAGES": {"action": reverse_lazy("admin:language")},
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "BORDER_RADIUS": "6px",
    "COLORS": {"base": GREY, "primary": PINE},
    "STYLES": [lambda request: static("operators/admin.css")],
    "ACCOUNT": {"navigation": [{"title": _("Your account"), "link": "/"}]},
    "SIDEBAR": {"show_search": True, "show_all_applications": False, "navigation": NAVIGATION},
}
