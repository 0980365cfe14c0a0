"""Frames are published on commit, in the format of the channel layer."""

import asyncio
import json
from typing import Any
from uuid import uuid4

import pytest
import redis
from channels.layers import get_channel_layer
from django.db import transaction

from common.db_executor import DatabaseExecutor
from common.redis_client import RedisClient, redis_client
from events import publish as publishing
from events.frames import Changes, ListChanged
from events.publish import get_group_name, publish, publish_now, publish_rights_changed
from events.rows import ChatRow

in_thread = DatabaseExecutor(2, "test")


async def listening(*groups: str) -> Any:
    layer = get_channel_layer()
    channel = await layer.new_channel()
    for group in groups:
        await layer.group_add(group, channel)
    return channel


async def received(channel: str) -> Any:
    return await asyncio.wait_for(get_channel_layer().receive(channel), 5)


@pytest.mark.django_db(transaction=True)
async def test_a_published_frame_is_received_by_the_channel_layer():
    topic = f"actor:{uuid4()}"
    channel = await listening(get_group_name(topic))
    await in_thread(publish, ListChanged(topic=topic, list="chats"))
    message = await received(channel)
    assert message["type"] == "frame"
    assert message["topic"] == topic
    assert json.loads(message["text"]) == ListChanged(topic=topic, list="chats").model_dump()


@pytest.mark.django_db(transaction=True)
async def test_the_envelope_of_a_changes_frame_has_its_versions():
    topic = f"chat:{uuid4()}"
    channel = await listening(get_group_name(topic))
    await in_thread(
        publish_now,
        Changes(topic=topic, after=3, version=5, rows=[]),
        Changes(topic=topic, after=5, version=6, rows=[]),
    )
    first, second = await received(channel), await received(channel)
    assert (first["after"], first["version"], second["after"], second["version"]) == (3, 5, 5, 6)


@pytest.mark.django_db(transaction=True)
async def test_a_too_large_frame_is_sent_without_its_text(monkeypatch):
    monkeypatch.setattr(publishing, "MAX_PUBLISHED_BYTES", 100)
    topic = f"chat:{uuid4()}"
    channel = await listening(get_group_name(topic))
    await in_thread(publish_now, Changes(topic=topic, after=0, version=1, rows=[_chat_row()]))
    message = await received(channel)
    assert message["text"] is None
    assert message["version"] == 1


@pytest.mark.django_db(transaction=True)
async def test_a_rolled_back_transaction_publishes_nothing():
    topic = f"actor:{uuid4()}"
    channel = await listening(get_group_name(topic))

    def roll_back_then_commit():
        with transaction.atomic():
            publish(ListChanged(topic=topic, list="agents"))
            transaction.set_rollback(True)
        with transaction.atomic():
            publish(ListChanged(topic=topic, list="members"))

    await in_thread(roll_back_then_commit)
    assert json.loads((await received(channel))["text"])["list"] == "members"


@pytest.mark.django_db(transaction=True)
async def test_changed_rights_are_sent_to_every_hub():
    actor = uuid4()
    channel = await listening(publishing.RIGHTS_GROUP)
    await in_thread(publish_rights_changed, actor)
    assert await received(channel) == {"type": "rights", "actor": str(actor)}


def test_redis_being_down_is_logged_once_and_fails_no_request(settings, caplog):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    broken = RedisClient()
    for _ in range(5):
        broken.publish([("anything", b"x")])
        broken.breaker._retry_at = 0.0
    assert broken.call(lambda client: bool(client.ping()), False) is False
    assert len([record for record in caplog.records if record.name == "common.redis_client"]) == 1


def test_the_first_frame_after_a_restart_of_redis_is_sent():
    redis_client.publish([("anything", b"x")])
    asked = redis_client.call(lambda client: client.client_id(), None)
    with redis.Redis.from_url(redis_client._url) as other:
        other.client_kill_filter(_id=asked)
    assert redis_client.call(lambda client: client.ping(), False) is True


def _chat_row() -> ChatRow:
    return ChatRow(
        id=uuid4(),
        workspace_id=uuid4(),
        title="x" * 200,
        version=1,
        created_by=None,
        created_at="2026-01-01T00:00:00Z",
    )
