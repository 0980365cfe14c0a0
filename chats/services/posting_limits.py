"""The token buckets that limit posting: one of the author and one of the workspace (SEC21)."""

import time
from uuid import UUID

from actors.rates import Bucket
from common.bounded import BoundedMap

WORKSPACE_CACHE_SECONDS = 60.0
"""Seconds that a process remembers the workspace of a chat in which an actor has posted."""

# By actor and chat: the workspace, and until when the entry is valid (seconds of the monotonic clock). The bucket of the
# workspace is found without a query, and only actors who may post in the workspace can take from it.
_workspaces: BoundedMap[tuple[UUID, UUID], tuple[UUID | None, float]] = BoundedMap(10_000)


def remember_workspace(actor_id: UUID, chat_id: UUID, workspace_id: UUID) -> None:
    """Remember for `WORKSPACE_CACHE_SECONDS` that the actor has posted in this chat of this workspace."""
    if find_workspace(actor_id, chat_id) is None:
        _workspaces.set((actor_id, chat_id), (workspace_id, time.monotonic() + WORKSPACE_CACHE_SECONDS))


def find_workspace(actor_id: UUID, chat_id: UUID) -> UUID | None:
    """Return the workspace of the chat if `remember_workspace` has stored it for this actor and it is still valid."""
    workspace_id, until = _workspaces.get((actor_id, chat_id), (None, 0.0))
    return workspace_id if time.monotonic() < until else None


def get_posting_buckets(actor_id: UUID, chat_id: UUID) -> list[Bucket]:
    """Return the buckets that a post takes from besides the one for all requests: the actor's and, if known, the workspace's."""
    buckets: list[Bucket] = [("posts", actor_id)]
    if workspace_id := find_workspace(actor_id, chat_id):
        buckets.append(("workspace_posts", workspace_id))
    return buckets
