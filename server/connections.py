"""Cutting a line."""

import asyncio
import struct
from contextlib import suppress
from socket import SO_LINGER, SOL_SOCKET

AT_ONCE = struct.pack("ii", 1, 0)


def cut(transport: asyncio.Transport) -> None:
    """End a line whose other side does not take what was sent. Closing it would leave megabytes with the kernel, which
    would offer them for minutes."""
    line = transport.get_extra_info("socket")
    if line is not None:
        with suppress(OSError):  # it has just ended by itself
            line.setsockopt(SOL_SOCKET, SO_LINGER, AT_ONCE)
    transport.abort()
