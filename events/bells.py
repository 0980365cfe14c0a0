"""Doorbells: telling people that a list of theirs changed. The client reads the list again; nothing is lost with a bell."""

from collections.abc import Iterable
from typing import Literal
from uuid import UUID

from events.frames import Bell
from events.publish import publish

What = Literal["chats", "agents", "members", "workspace", "model", "me", "suggestions", "notifications"]


def ring(actor_ids: Iterable[UUID], what: What) -> None:
    """Ring at these people's doors, on commit."""
    for actor_id in actor_ids:
        publish(Bell(topic=f"actor:{actor_id}", what=what))


def ring_workspace(workspace_id: UUID, what: What) -> None:
    """Ring for everybody in a workspace, on commit."""
    publish(Bell(topic=f"workspace:{workspace_id}", what=what))
