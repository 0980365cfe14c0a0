"""Writing the audit trail. Services call `record` once for each action."""

from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser

from events.models import AuditRecord


def record(
    actor: AbstractBaseUser | None,
    action: str,
    *,
    workspace_id: UUID | None = None,
    object_id: UUID | None = None,
    on_behalf_of: AbstractBaseUser | None = None,
    **facts: object,
) -> None:
    """Store an audit record in the current transaction. `facts` must be small, without secrets and texts of messages."""
    AuditRecord.objects.create(
        actor_id=actor.pk if actor else None,
        on_behalf_of_id=on_behalf_of.pk if on_behalf_of else None,
        action=action,
        workspace_id=workspace_id,
        object_id=object_id,
        facts=facts,
    )
