"""Which socket goes to which consumer: there is one kind, at `/ws/`."""

from typing import Any

from realtime.consumer import SocketConsumer

_socket = SocketConsumer.as_asgi()


async def application(scope: Any, receive: Any, send: Any) -> None:
    """ASGI, for `websocket` scopes. Every other path is refused at the handshake."""
    if scope["path"].rstrip("/") != "/ws":
        await receive()
        await send({"type": "websocket.close"})
        return
    await _socket(scope, receive, send)
