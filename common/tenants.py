"""The tenant for which the current task works: a workspace, or a person in a test of their own model. Resources that are limited
per tenant are counted by it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

_tenant: ContextVar[str] = ContextVar("tenant", default="")


@contextmanager
def set_current_tenant(tenant: UUID) -> Iterator[None]:
    """Make this the current tenant, for which limits are counted, in this block and in the asyncio tasks that it starts."""
    token = _tenant.set(str(tenant))
    try:
        yield
    finally:
        _tenant.reset(token)


def get_current_tenant() -> str:
    """Return the tenant that the current task works for; the empty string if there is none."""
    return _tenant.get()
