"""The tenant for which the current task works, and the workspace in which a person last did something. What tenants share in a
process is shared by them."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple
from uuid import UUID

from common.bounded import BoundedMap


class Tenant(NamedTuple):
    """A workspace, and the person for whom the work in it is done. Both are ids as text; empty if there is none."""

    workspace: str
    person: str


_tenant: ContextVar[Tenant | None] = ContextVar("tenant", default=None)

_last_workspaces: BoundedMap[UUID, UUID | None] = BoundedMap(10_000)


@contextmanager
def set_current_tenant(workspace_id: UUID | None, person_id: UUID | None) -> Iterator[None]:
    """Make this the current tenant in this block and in the asyncio tasks that it starts.

    Work without a person counts as that of one unknown person of the workspace, and work without a workspace, such as the test of
    a person's own model, as that of a workspace with this person only.
    """
    workspace = str(workspace_id or person_id or "")
    token = _tenant.set(Tenant(workspace, str(person_id or f"unknown in {workspace}")))
    try:
        yield
    finally:
        _tenant.reset(token)


def get_current_tenant() -> Tenant:
    """Return the tenant that the current task works for; with empty ids if there is none."""
    return _tenant.get() or Tenant("", "")


def remember_workspace(person_id: UUID, workspace_id: UUID) -> None:
    """Remember that this person has just used a right in this workspace."""
    if _last_workspaces.get(person_id, None) != workspace_id:
        _last_workspaces.set(person_id, workspace_id)


def find_last_workspace(person_id: UUID) -> UUID | None:
    """Return the workspace in which the person last used a right in this process; null if it is not known."""
    return _last_workspaces.get(person_id, None)
