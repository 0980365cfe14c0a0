"""Sending stop requests from web processes to workers through Redis.

The message only makes a stop faster: `Run.stop_requested_at` is authoritative, and workers also read it with each heartbeat.
"""

import logging
import os
from collections.abc import AsyncGenerator
from uuid import UUID

from django.db import transaction

from common.redis_client import build_subscription_client, receive_for_ever, redis_client

logger = logging.getLogger(__name__)

STOP_CHANNEL = "control.stops"


def send_stop(run_id: UUID) -> None:
    """Ask the worker that executes this run to stop it, on commit or at once outside a transaction."""
    transaction.on_commit(lambda: redis_client.publish([(STOP_CHANNEL, str(run_id).encode())]), robust=True)


def listen_for_stops() -> AsyncGenerator[UUID, None]:
    """Yield the ids of runs to stop, for ever (`receive_for_ever`)."""
    return receive_for_ever(_listen, "the control channel")


def get_listener_name() -> str:
    """Return the name of this process's connection in Redis' list of clients."""
    return f"stops-{os.getpid()}"


async def _listen() -> AsyncGenerator[UUID, None]:
    async with (
        build_subscription_client(get_listener_name()) as client,
        client.pubsub(ignore_subscribe_messages=True) as channel,
    ):
        await channel.subscribe(STOP_CHANNEL)
        while True:
            # It returns without a message in time for the health check of the connection.
            message = await channel.get_message(timeout=5.0)
            if message is None:
                continue
            try:
                yield UUID(message["data"].decode())
            except ValueError:
                logger.warning("A message on the control channel is not an id")
