"""The tenant that the current task works for: a workspace or, in a test of a person's own model, that person. Limits per tenant
are counted by it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_tenant: ContextVar[str] = ContextVar("tenant", default="")


@contextmanager
def on_behalf_of_tenant(tenant: object) -> Iterator[None]:
    """Set the tenant for this block and for the asyncio tasks that it starts."""
    token = _tenant.set(str(tenant))
    try:
        yield
    finally:
        _tenant.reset(token)


def get_current_tenant() -> str:
    """Return the tenant that the current task works for; the empty string if there is none."""
    return _tenant.get()
