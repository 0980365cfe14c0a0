"""Abort connections."""

import asyncio
import struct
from contextlib import suppress
from socket import SO_LINGER, SOL_SOCKET

NO_LINGER = struct.pack("ii", 1, 0)


def abort(transport: asyncio.Transport) -> None:
    """Reset a connection whose peer does not read. After an orderly close the kernel would keep the unsent bytes for minutes."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        with suppress(OSError):  # the connection has already ended
            connection.setsockopt(SOL_SOCKET, SO_LINGER, NO_LINGER)
    transport.abort()
