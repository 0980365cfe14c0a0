"""The one door through which frames leave: one Redis PUBLISH, in the channel layer's own format, once the transaction
has committed. What is lost here is repaired by the hub; so Redis may be down, and nobody fails.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer
from django.conf import settings
from django.db import transaction

from common.redis_client import redis_client
from events.frames import (
    AgentStates,
    Changes,
    ChatActivity,
    Delta,
    DraftText,
    ListChanged,
    ListName,
    Presence,
    Progress,
    Typing,
)

Message = tuple[str, bytes]
"""A Redis channel, and what goes there."""
Frame = Changes | Delta | DraftText | ListChanged | ChatActivity | Presence | Progress | AgentStates | Typing

MAX_TEXT = 256 * 1024
"""Longer frames (bytes, encoded) do not travel: the hub hears only the version, and reads the rows itself."""

BATCHES = "batches"
"""The group of every hub, for passing frames of many topics."""

RIGHTS = "rights"
"""The group that every hub hears: whose rights changed. Rare, so one group for all is enough."""


def publish(frame: Frame, *, said_in: UUID | None = None) -> None:
    """Tell everybody on the frame's topic, on commit; at once outside a transaction.

    `said_in` is the workspace, when something was said in the chat: its hubs tell members who do not have it open.
    """
    _send_on_commit(packed(frame), *([_said(said_in, frame.topic)] if said_in else ()))


def publish_transient(frames: Iterable[Frame]) -> None:
    """Publish passing frames of many topics on commit, in few messages: every hub gets them all, and hands on those that its
    sockets follow. A message for each topic would cost Redis and the hub more."""
    messages: list[Message] = []
    batch: list[tuple[str, str, str]] = []
    size = 0
    for frame in frames:
        text = frame.model_dump_json()
        if batch and size + len(text) > MAX_TEXT // 4:  # a character has four bytes at most
            messages.append(_batched(batch))
            batch, size = [], 0
        batch.append((frame.topic, frame.type, text))
        size += len(text)
    _send_on_commit(*messages, *([_batched(batch)] if batch else []))


def _send_on_commit(*messages: Message) -> None:
    transaction.on_commit(lambda: redis_client.publish(messages), robust=True)


def _said(workspace_id: UUID, topic: str) -> Message:
    where = f"workspace:{workspace_id}"
    return _serialized(group_of(where), {"type": "activity", "topic": where, "chat": topic.removeprefix("chat:")})


def _batched(frames: list[tuple[str, str, str]]) -> Message:
    return _serialized(BATCHES, {"type": "batch", "frames": frames})


def publish_now(*frames: Frame) -> None:
    """Tell at once, in one round trip; for passing frames that belong to no transaction."""
    redis_client.publish([packed(frame) for frame in frames])


def notify_list_changed(actor_ids: Iterable[UUID], list_name: ListName) -> None:
    """Tell these people, on commit, that a list of theirs changed. Their clients read it again."""
    for actor_id in actor_ids:
        publish(ListChanged(topic=f"actor:{actor_id}", list=list_name))


def notify_workspace_list_changed(workspace_id: UUID, list_name: ListName) -> None:
    """Tell everybody in the workspace, on commit, that a list of it changed."""
    publish(ListChanged(topic=f"workspace:{workspace_id}", list=list_name))


def rights_changed(actor_id: UUID) -> None:
    """On commit: every hub asks again what this person may follow, and ends what they may not (SEC5).

    Services call it when somebody leaves or is removed from a chat or workspace, signs out or is deactivated.
    """
    _send_on_commit(_serialized(RIGHTS, {"type": "rights", "actor": str(actor_id)}))


def packed(frame: Frame) -> Message:
    """The Redis channel and the bytes of a frame, for those who send in a pipeline of their own."""
    return _serialized(group_of(frame.topic), _envelope(frame))


def group_of(topic: str) -> str:
    """The channel layer's name of a topic: it knows no colons."""
    return topic.replace(":", ".")


def _envelope(frame: Frame) -> dict[str, Any]:
    """The encoded text, and beside it what the hub must know without reading the text."""
    text = frame.model_dump_json()
    fits = len(text) <= MAX_TEXT and len(text.encode()) <= MAX_TEXT
    envelope: dict[str, Any] = {
        "type": "frame", "kind": frame.type, "topic": frame.topic, "text": text if fits else None
    }  # fmt: skip
    if isinstance(frame, Changes):
        envelope |= {"after": frame.after, "version": frame.version}
    return envelope


def _serialized(group: str, message: dict[str, Any]) -> Message:
    layer: dict[str, Any] = settings.CHANNEL_LAYERS["default"]
    return f"{layer['CONFIG']['prefix']}__group__{group}", get_channel_layer().serialize(message)
