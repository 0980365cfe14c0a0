"""Stop requests reach the workers, also after a connection to Redis broke."""

import asyncio
from uuid import uuid4

import pytest
import redis.asyncio as redis
from django.conf import settings

from common.db_executor import DatabaseExecutor
from common.redis_client import redis_client
from events.control import STOP_CHANNEL, get_listener_name, listen_for_stops, send_stop


async def line(client) -> list[str]:
    """Return the Redis client ids of this process, because other tests may use the same server."""
    clients = await client.client_list(_type="pubsub")
    return [one["id"] for one in clients if one["name"] == get_listener_name()]


async def wait_for_subscription(client, but: tuple[str, ...] = ()) -> None:
    async with asyncio.timeout(60):
        while not [one for one in await line(client) if one not in but]:
            await asyncio.sleep(0.02)


@pytest.mark.django_db(transaction=True)
async def test_RUN16_a_stop_is_received_also_after_the_connection_broke():
    received = listen_for_stops()
    next_stop = asyncio.ensure_future(anext(received))
    async with redis.from_url(settings.REDIS_URL) as client:
        await wait_for_subscription(client)
        first, second = uuid4(), uuid4()
        await request_stop(first)
        assert await asyncio.wait_for(next_stop, 5) == first
        next_stop = asyncio.ensure_future(anext(received))
        cut = tuple(await line(client))
        for one in cut:
            await client.client_kill_filter(_id=one)
        await wait_for_subscription(client, but=cut)
        await request_stop(second)
        assert await asyncio.wait_for(next_stop, 5) == second
    await received.aclose()


async def request_stop(root_id) -> None:
    await DatabaseExecutor(1, "test")(send_stop, root_id)


@pytest.mark.django_db(transaction=True)
async def test_a_stop_message_that_is_no_id_is_ignored(caplog):
    received = listen_for_stops()
    next_stop = asyncio.ensure_future(anext(received))
    async with redis.from_url(settings.REDIS_URL) as client:
        await wait_for_subscription(client)
        redis_client.publish([(STOP_CHANNEL, b"nonsense")])
        root_id = uuid4()
        await request_stop(root_id)
    assert await asyncio.wait_for(next_stop, 5) == root_id
    await received.aclose()
