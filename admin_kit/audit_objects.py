"""Links from an audit record to the row that it is about."""

from django.apps import apps
from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from admin_kit.links import get_change_url, link
from admin_kit.model_admin import ReadOnlyAdmin
from events.models import AuditRecord


def find_model_label(record: AuditRecord) -> str:
    """Return the label of the model of a record's object; empty when it has none.

    A record says it in `facts.table`; else the admin class that lists the first word of the action does (`audit_prefixes`).
    """
    if table := record.facts.get("table"):
        return str(table)
    prefix = record.action.partition(".")[0]
    for model, model_admin in admin.site._registry.items():
        if isinstance(model_admin, ReadOnlyAdmin) and prefix in model_admin.audit_prefixes:
            return model._meta.label
    return ""


@admin.display(description=_("object"))
def audit_object(record: AuditRecord) -> str:
    """Link to the object of an audit record."""
    label = find_model_label(record)
    if record.object_id is None or not label:
        return str(record.facts.get("row", ""))
    name = apps.get_model(label)._meta.verbose_name
    return link(get_change_url(label, record.object_id), f"{name} …{str(record.object_id)[-8:]}")
