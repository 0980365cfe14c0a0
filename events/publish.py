"""Publishing frames on commit, by Redis PUBLISH in the format of the channel layer.

No request fails while Redis is down: hubs read lost durable frames from the database later.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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

RedisMessage = tuple[str, bytes]
"""A Redis channel and the body of a message."""
Frame = Changes | Delta | DraftText | ListChanged | ChatActivity | Presence | Progress | AgentStates | Typing

MAX_PUBLISHED_BYTES = 256 * 1024
"""The text of a frame with more bytes is not sent. The rows of `Changes` are then read by the hub, and other frames are lost."""

BATCH_GROUP = "batches"
"""The group of all hubs, for transient frames of many topics."""

RIGHTS_GROUP = "rights"
"""The group of all hubs, for people whose rights changed."""


def publish(frame: Frame, *, activity_in: UUID | None = None) -> None:
    """Publish a frame to its topic on commit, or at once outside a transaction.

    `activity_in` is the workspace if a message was posted, edited or deleted: participants who do not have the chat open get
    its unread count.
    """
    messages = [encode_for_redis(frame)]
    if activity_in is not None:
        topic = f"workspace:{activity_in}"
        activity = {"type": "activity", "topic": topic, "chat": frame.topic.removeprefix("chat:")}
        messages.append(_serialize(get_group_name(topic), activity))
    _send_on_commit(*messages)


def publish_batch(frames: Iterable[Frame]) -> None:
    """Publish transient frames of many topics on commit.

    The frames are sent to all hubs in few messages, because a message for each topic would cost more. A hub passes on
    only the frames of topics to which its sockets are subscribed.
    """
    messages: list[RedisMessage] = []
    batch: list[tuple[str, str, str]] = []
    size = 0
    for frame in frames:
        text = frame.model_dump_json()
        if batch and size + len(text) > MAX_PUBLISHED_BYTES // 4:  # a character has four bytes at most
            messages.append(_build_batch(batch))
            batch, size = [], 0
        batch.append((frame.topic, frame.type, text))
        size += len(text)
    _send_on_commit(*messages, *([_build_batch(batch)] if batch else []))


@contextmanager
def hold_frames() -> Iterator[list[RedisMessage]]:
    """Until the end of the block, collect what this thread publishes on commit. The caller sends it, and soon: a client that
    receives a later frame of the topic first has to read the rows of the earlier one. It is sent at once if the block raises."""
    held: list[RedisMessage] = []
    _thread.held = held
    try:
        yield held
    except BaseException:
        redis_client.publish(held)
        raise
    finally:
        _thread.held = None


class _Thread(threading.local):
    """What this thread holds (`hold_frames`)."""

    held: list[RedisMessage] | None = None


_thread = _Thread()


def _send_on_commit(*messages: RedisMessage) -> None:
    transaction.on_commit(lambda: _send(messages), robust=True)


def _send(messages: Sequence[RedisMessage]) -> None:
    if _thread.held is None:
        redis_client.publish(messages)
    else:
        _thread.held.extend(messages)


def _build_batch(frames: list[tuple[str, str, str]]) -> RedisMessage:
    return _serialize(BATCH_GROUP, {"type": "batch", "frames": frames})


def publish_now(*frames: Frame) -> None:
    """Publish transient frames at once, in one round trip."""
    redis_client.publish([encode_for_redis(frame) for frame in frames])


def publish_list_changed(actor_ids: Iterable[UUID], list_name: ListName) -> None:
    """Publish to these people, on commit and in one round trip, that a list of theirs changed."""
    frames = [ListChanged(topic=f"actor:{actor_id}", list=list_name) for actor_id in actor_ids]
    _send_on_commit(*map(encode_for_redis, frames))


def publish_workspace_list_changed(workspace_id: UUID, list_name: ListName) -> None:
    """Publish to the members of a workspace, on commit, that a list of it changed."""
    publish(ListChanged(topic=f"workspace:{workspace_id}", list=list_name))


def publish_rights_changed(actor_id: UUID) -> None:
    """Make every hub check this person's rights again, on commit, and end subscriptions that are no longer allowed (SEC5).

    Services call it whenever a session, a token or a right of the person may have ended or changed.
    """
    _send_on_commit(_serialize(RIGHTS_GROUP, {"type": "rights", "actor": str(actor_id)}))


def encode_for_redis(frame: Frame) -> RedisMessage:
    """Return the Redis channel and the bytes of a frame, for a caller with its own pipeline.

    The message has the encoded frame, and the fields of it that a hub uses. `text` is null for a large frame.
    """
    text = frame.model_dump_json()
    fits = len(text) <= MAX_PUBLISHED_BYTES and len(text.encode()) <= MAX_PUBLISHED_BYTES
    message: dict[str, Any] = {"type": "frame", "kind": frame.type, "topic": frame.topic}
    message["text"] = text if fits else None
    if isinstance(frame, Changes):
        message |= {"after": frame.after, "version": frame.version}
    return _serialize(get_group_name(frame.topic), message)


def get_group_name(topic: str) -> str:
    """Return the group of a topic; the name of a group has no colons."""
    return topic.replace(":", ".")


def _serialize(group: str, message: dict[str, Any]) -> RedisMessage:
    layer: dict[str, Any] = settings.CHANNEL_LAYERS["default"]
    return f"{layer['CONFIG']['prefix']}__group__{group}", get_channel_layer().serialize(message)
