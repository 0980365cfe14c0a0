"""The one ASGI application: health, HTTP through one thread hop, sockets on the loop; warm before it says ready."""

import asyncio
import importlib
from typing import Any

from config.wsgi import application as wsgi  # isort: skip  # sets Django up: first

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable
from django.conf import settings
from django.db import connections

from config.checks import refuse_to_serve_unsafely
from config.serving.bridge import Bridge, to_environ
from config.serving.health import PATHS, Health
from realtime.routing import application as sockets

# Asked once of a new process, so that no person's request pays for imports and first connections.
DRY_REQUESTS = ("/", "/api/v1/me", "/_allauth/browser/v1/config")


class Application:
    """Sends each connection where it belongs."""

    def __init__(self) -> None:
        self.health = Health()
        self._http = Bridge(wsgi, threads=settings.WEB_THREADS, waiting=settings.WEB_WAITING)

    async def __call__(self, scope: Any, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "websocket":
            await sockets(scope, receive, send)
        elif scope["path"] in PATHS:
            await self.health.answer(scope["path"], send)
        else:
            await self._http(scope, receive, send)

    async def _live(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        await receive()
        refuse_to_serve_unsafely()
        await asyncio.get_running_loop().run_in_executor(None, _warm_up)
        self.health.warm = True
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self.health.warm = False
        await asyncio.get_running_loop().run_in_executor(None, self._close)
        await send({"type": "lifespan.shutdown.complete"})

    def _close(self) -> None:
        self._http.close()
        for connection in connections.all(initialized_only=True):
            close_pool = getattr(connection, "close_pool", None)
            if close_pool:
                close_pool()


def _warm_up() -> None:
    importlib.import_module(settings.ROOT_URLCONF)
    for path in DRY_REQUESTS:
        answer: Any = wsgi(to_environ(_dry(path), b""), lambda *args: lambda part: None)
        b"".join(answer)
        answer.close()
    connections.close_all()


def _dry(path: str) -> Any:
    host = (settings.ALLOWED_HOSTS or ["localhost"])[0].lstrip(".").replace("*", "localhost")
    return {
        "method": "GET",
        "path": path,
        "query_string": b"",
        "http_version": "1.1",
        "headers": [(b"host", host.encode())],
    }


application = Application()
