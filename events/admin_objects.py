"""From a record of the audit trail to the page of what it is about."""

from django.apps import apps
from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from events.admin_lists import anchor, page_of
from events.models import AuditRecord

# What a deed is done to, by the first word of its name; others say it themselves, in `facts.table`.
OBJECTS = {
    "workspace": "workspaces.workspace",
    "model": "workspaces.credential",
    "member": "actors.actor",
    "person": "actors.actor",
    "profile": "actors.actor",
    "password": "actors.actor",
    "sessions": "actors.actor",
    "token": "actors.apitoken",
    "agent": "actors.actor",
    "spec": "actors.actor",
    "chat": "chats.chat",
    "link": "chats.chatlink",
    "draft": "agents.draft",
    "run": "agents.run",
}


@admin.display(description=_("object"))
def object_of(record: AuditRecord) -> str:
    """What it was done to, with the way there."""
    table = record.facts.get("table") or OBJECTS.get(record.deed.partition(".")[0], "")
    if record.object_id is None or not table:
        return str(record.facts.get("row", ""))
    name = apps.get_model(table)._meta.verbose_name
    return anchor(page_of(table, record.object_id), f"{name} …{str(record.object_id)[-8:]}")
