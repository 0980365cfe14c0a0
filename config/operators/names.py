"""What tables, columns and choices are called in the admin, in the reader's language.

The models keep Django's own names: here they are laid over them when the site is made, so that a name costs no migration.
`manage.py texts` finds them by `names()`.
"""

from collections.abc import Iterator
from typing import Any

from django.apps import apps
from django.contrib.admin import AdminSite
from django.db.models import Field
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

TABLES = {
    "actors.actor": (_("person or agent"), _("people and agents")),
    "actors.apitoken": (_("API token"), _("API tokens")),
    "agents.agentgrant": (_("right on an agent"), _("rights on agents")),
    "agents.agentspec": (_("version"), _("versions")),
    "agents.agenttoolconfig": (_("tool in use"), _("tools in use")),
    "agents.draft": (_("draft"), _("drafts")),
    "agents.draftwish": (_("wish for a draft"), _("wishes for drafts")),
    "agents.earliertext": (_("earlier text"), _("earlier texts")),
    "agents.llmcall": (_("model call"), _("model calls")),
    "agents.run": (_("run"), _("runs")),
    "agents.step": (_("step"), _("steps")),
    "chats.chat": (_("chat"), _("chats")),
    "chats.chatactor": (_("participant"), _("participants")),
    "chats.chatgrant": (_("right on a chat"), _("rights on chats")),
    "chats.chatlink": (_("link"), _("links")),
    "chats.message": (_("message"), _("messages")),
    "events.auditrecord": (_("audit record"), _("audit records")),
    "notifications.notification": (_("notification"), _("notifications")),
    "suggestions.merge": (_("merge"), _("merges")),
    "suggestions.suggestion": (_("suggestion"), _("suggestions")),
    "workspaces.credential": (_("model and key"), _("models and keys")),
    "workspaces.membership": (_("membership"), _("memberships")),
    "workspaces.workspace": (_("workspace"), _("workspaces")),
    "workspaces.workspacegrant": (_("right on a workspace"), _("rights on workspaces")),
}
APPS = {
    "actors": _("Actors"),
    "agents": _("Agents"),
    "chats": _("Chats"),
    "events": _("Events"),
    "notifications": _("Notifications"),
    "suggestions": _("Suggestions"),
    "workspaces": _("Workspaces"),
}


def _fields(site: AdminSite) -> Iterator[Any]:
    """The columns that the admin may show."""
    for model, page in site._registry.items():
        hidden = getattr(page, "hidden", ())
        yield from (field for field in model._meta.fields if field.name not in hidden)


def names(site: AdminSite) -> Iterator[tuple[str, str]]:
    """(text, where) of each name that a model makes up by itself: of columns, of choices, of rights."""
    for field in _fields(site):
        where = str(field)
        yield str(field.verbose_name), where
        for _value, label in field.flatchoices:
            yield str(label), where
    for model in site._registry:
        for _codename, label in model._meta.permissions:
            yield str(label), model._meta.label


def translate_names(site: AdminSite) -> None:
    """Let everything that the site shows be called by its name in the reader's language."""
    for app, name in APPS.items():
        apps.get_app_config(app).verbose_name = name
    for model in site._registry:
        if model._meta.label_lower in TABLES:
            model._meta.verbose_name, model._meta.verbose_name_plural = TABLES[model._meta.label_lower]
    for field in _fields(site):
        _translate(field)


def _translate(field: "Field[Any, Any]") -> None:
    if not isinstance(field.verbose_name, Promise):
        field.verbose_name = _(field.verbose_name)
    if field.choices:
        field.choices = [(value, _(str(label))) for value, label in field.flatchoices]
