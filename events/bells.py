"""Doorbells: telling people that a list of theirs changed. The client reads the list again; nothing is lost with a bell."""

from collections.abc import Iterable
from uuid import UUID

from events.frames import Bell, ListName
from events.publish import publish


def ring(actor_ids: Iterable[UUID], what: ListName) -> None:
    """Ring at these people's doors, on commit."""
    for actor_id in actor_ids:
        publish(Bell(topic=f"actor:{actor_id}", what=what))


def ring_workspace(workspace_id: UUID, what: ListName) -> None:
    """Ring for everybody in a workspace, on commit."""
    publish(Bell(topic=f"workspace:{workspace_id}", what=what))
