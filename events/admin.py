"""The audit trail, for operators."""

from events.admin_pages import register
from events.models import AuditRecord

register(
    AuditRecord, "at", "actor", "deed", "workspace_id", "object_id", search=["deed", "object_id", "workspace_id"],
    filters=["deed"], ordering=["-at"],
)  # fmt: skip
