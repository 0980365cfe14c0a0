"""For which tenant (a workspace) this process works at the moment: what is bounded for each tenant is counted by it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_tenant: ContextVar[str] = ContextVar("tenant", default="")


@contextmanager
def on_behalf_of_tenant(tenant: object) -> Iterator[None]:
    """Count what this block does, and the tasks that it starts, for this tenant."""
    token = _tenant.set(str(tenant))
    try:
        yield
    finally:
        _tenant.reset(token)


def current_tenant() -> str:
    """Return the tenant that the current task works for; an empty text when it works for none."""
    return _tenant.get()
