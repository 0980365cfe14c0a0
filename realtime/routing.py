"""The ASGI application for WebSockets, at `/ws/`."""

from typing import Any

from realtime.consumer import SocketConsumer

_socket = SocketConsumer.as_asgi()


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Run the consumer for a `websocket` scope. Other paths than `/ws/` are refused at the handshake."""
    if scope["path"].rstrip("/") != "/ws":
        await receive()
        await send({"type": "websocket.close"})
        return
    await _socket(scope, receive, send)
