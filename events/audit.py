"""Writing the audit trail. Services call `record` once for each action."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from django.contrib.auth.base_user import AbstractBaseUser

from events.models import AuditRecord

_reason: ContextVar[str] = ContextVar("reason", default="")


@contextmanager
def state_reason(reason: str) -> Iterator[None]:
    """Store why it was done in each audit record of the block, as the fact `reason`. Without a reason, store nothing."""
    token = _reason.set(reason)
    try:
        yield
    finally:
        _reason.reset(token)


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
    if reason := _reason.get():
        facts.setdefault("reason", reason)
    AuditRecord.objects.create(
        actor_id=actor.pk if actor else None,
        on_behalf_of_id=on_behalf_of.pk if on_behalf_of else None,
        action=action,
        workspace_id=workspace_id,
        object_id=object_id,
        facts=facts,
    )
