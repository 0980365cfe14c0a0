"""The audit trail: who did what to what, written by the one door of every write."""

from django.db import models

from common.models import Identified


class AuditRecord(Identified):
    """One deed. `facts` never holds a secret or the text of a message (D17)."""

    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey("actors.Actor", null=True, on_delete=models.SET_NULL, related_name="+")
    on_behalf_of = models.ForeignKey("actors.Actor", null=True, on_delete=models.SET_NULL, related_name="+")
    deed = models.CharField(max_length=60)
    workspace_id = models.UUIDField(null=True)
    object_id = models.UUIDField(null=True)
    facts = models.JSONField(default=dict)

    class Meta:
        indexes = [
            models.Index(fields=["workspace_id", "-at"], name="audit_by_workspace"),
            models.Index(fields=["object_id", "-at"], name="audit_by_object"),
            models.Index(fields=["deed", "id"], name="audit_by_deed"),
        ]

    def __str__(self) -> str:
        return f"{self.deed} · {self.at:%Y-%m-%d %H:%M}"
