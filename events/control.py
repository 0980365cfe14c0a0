"""What web processes ask of workers in passing: end a run's tree. A hint only: `stop_requested_at` is the truth, and
the worker's heartbeat reads it when Redis is down."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator
from uuid import UUID

from django.db import transaction
from redis import RedisError

from common.redis_client import build_subscription_client, redis_client

logger = logging.getLogger(__name__)

STOPS = "control.stops"


def send_stop(root_id: UUID) -> None:
    """Ask every worker to stop the runs of this tree, on commit or at once outside a transaction."""
    transaction.on_commit(lambda: redis_client.publish([(STOPS, str(root_id).encode())]), robust=True)


async def stops() -> AsyncGenerator[UUID, None]:
    """The root runs to end, as they are asked for; connects again by itself. Close the iterator to leave."""
    pause = 0.1
    while True:
        try:
            async for root_id in _listen():
                pause = 0.1
                yield root_id
        except (RedisError, OSError) as error:
            logger.warning("The control channel broke off; trying again in %.1f s: %s", pause, error)
        await asyncio.sleep(pause)
        pause = min(pause * 2, 2.0)


def listener_name() -> str:
    """Return the name of this process's connection in Redis' list of clients."""
    return f"stops-{os.getpid()}"


async def _listen() -> AsyncGenerator[UUID, None]:
    async with (
        build_subscription_client(listener_name()) as client,
        client.pubsub(ignore_subscribe_messages=True) as channel,
    ):
        await channel.subscribe(STOPS)
        while True:
            message = await channel.get_message(timeout=5.0)
            if message is None:
                continue
            try:
                yield UUID(message["data"].decode())
            except ValueError:
                logger.warning("A message on the control channel is not an id")
