"""Writing the audit trail: called by the services, once per deed (S0.17, B9)."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from events.models import AuditRecord

if TYPE_CHECKING:
    from actors.models import Actor


def record(
    actor: "Actor | None",
    deed: str,
    *,
    workspace_id: UUID | None = None,
    object_id: UUID | None = None,
    on_behalf_of: "Actor | None" = None,
    **facts: Any,
) -> None:
    """Keep that `actor` did `deed`, in the caller's transaction. `facts` are small, and never secrets or message texts."""
    AuditRecord.objects.create(
        actor=actor, on_behalf_of=on_behalf_of, deed=deed, workspace_id=workspace_id, object_id=object_id, facts=facts
    )
