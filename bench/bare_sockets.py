"""The floor of P13: a bare uvicorn with its WebSocket protocol, which sends a text to all sockets, `count` times.

`python -m bench.bare_sockets PORT`. The message `[count, size, seconds]` of a socket starts it; `seconds` is the pause.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

Send = Callable[[dict[str, Any]], Awaitable[None]]
sockets: set[Send] = set()


async def application(scope: dict[str, Any], receive: Callable[[], Awaitable[dict[str, Any]]], send: Send) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    sockets.add(send)
    while (event := await receive())["type"] == "websocket.receive":
        count, size, seconds = json.loads(event["text"])
        for _ in range(count):
            for one in list(sockets):
                await one({"type": "websocket.send", "text": "x" * size})
            await asyncio.sleep(seconds)
        await send({"type": "websocket.send", "text": "done"})
    sockets.discard(send)


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(
        application,
        port=int(sys.argv[1]),
        loop="uvloop",
        ws="websockets-sansio",
        lifespan="off",
        access_log=False,
        log_level="warning",
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=1,
    )
