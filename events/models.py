"""The audit trail: the actor, action and object of every audited write."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from common.models import Identified


class AuditRecord(Identified):
    """One audited action. `facts` never holds a secret or the text of a message (SEC17)."""

    at = models.DateTimeField(_("at"), auto_now_add=True)
    actor = models.ForeignKey(
        "actors.Actor", verbose_name=_("actor"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    on_behalf_of = models.ForeignKey(
        "actors.Actor", verbose_name=_("on behalf of"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    action = models.CharField(_("action"), max_length=60)
    workspace_id = models.UUIDField(_("workspace id"), null=True)
    object_id = models.UUIDField(_("object id"), null=True)
    facts = models.JSONField(_("facts"), default=dict)

    class Meta:
        verbose_name = _("audit record")
        verbose_name_plural = _("audit records")
        indexes = [
            models.Index(fields=["workspace_id", "-at"], name="audit_by_workspace"),
            models.Index(fields=["object_id", "-at"], name="audit_by_object"),
            models.Index(fields=["action", "id"], name="audit_by_action"),
        ]

    def __str__(self) -> str:
        return f"{self.action} · {self.at:%Y-%m-%d %H:%M}"
