"""Links from an audit record to the row that it is about."""

from django.apps import apps
from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from admin_kit.links import get_change_url, link
from admin_kit.model_admin import ReadOnlyAdmin
from events.models import AuditRecord


def find_model_label(record: AuditRecord) -> str:
    """Return the label of the model of the record's object; empty if there is none.

    It is in `facts.table` of the record, or else it is the model of the admin class that has the first word of the action in its
    `audit_prefixes`.
    """
    if table := record.facts.get("table"):
        return str(table)
    prefix = record.action.partition(".")[0]
    for model, model_admin in admin.site._registry.items():
        if isinstance(model_admin, ReadOnlyAdmin) and prefix in model_admin.audit_prefixes:
            return model._meta.label
    return ""


@admin.display(description=_("object"))
def link_audited_object(record: AuditRecord) -> str:
    """Link to the object of an audit record."""
    label = find_model_label(record)
    if record.object_id is None or not label:
        return str(record.facts.get("row", ""))
    name = apps.get_model(label)._meta.verbose_name
    return link(get_change_url(label, record.object_id), f"{name} …{str(record.object_id)[-8:]}")
