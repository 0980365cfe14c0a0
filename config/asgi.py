"""The ASGI application: health checks, WebSockets and long polling run on the event loop, HTTP requests in threads."""

import asyncio
import importlib
import io
from datetime import timedelta
from typing import Any

from config.wsgi import application as wsgi  # isort: skip  # sets Django up: first

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable
from django.conf import settings
from django.db import connections

from actors.callers import find_caller
from actors.rates import find_refusal, get_ip_address_bucket
from common.clock import now
from common.ids import get_lowest_id_at
from common.processes import freeze_collector, wait_for_migrations
from common.tenants import find_last_workspace
from config.checks import refuse_to_serve_unsafely
from realtime.long_polling import LongPolling
from realtime.routing import application as sockets
from server.bridge import Bridge, build_environ
from server.fair_queue import HTTPCaller
from server.health import PATHS, Health
from server.limits import MAX_DOCUMENT_BODY_BYTES, MAX_FORM_OVERHEAD
from server.uploads import Uploads

# Requested once in a new process, so that no user's request waits for imports and first connections.
WARM_UP_PATHS = ("/", "/api/v1/me", "/_allauth/browser/v1/config")
NEW_WORKSPACE_AGE = timedelta(days=1)


def identify_caller(scope: Any) -> HTTPCaller:
    """Return the person who sends a request, or the IP address if this process has not seen the person's credential before, and
    the workspace in which the person last did something, which need not be that of the request. Raise `LimitReached` if the API's
    throttle (`actors.rates.Throttle`) has just refused this caller and would do so again."""
    person, has_credential = find_caller(scope["headers"])
    address = get_ip_address_bucket((scope.get("client") or ("",))[0])
    bucket = ("requests", person) if person else address
    # A credential that this process has not seen before may belong to a person, who has a bucket of their own.
    if scope["path"].startswith("/api/v1/") and (person or not has_credential):
        if refusal := find_refusal(bucket):
            raise refusal
    workspace = find_last_workspace(person) if person else None
    # Anybody can sign up and make workspaces, so those of an address share a group for the first day. The group of an older
    # workspace is the workspace itself.
    is_old = workspace is not None and workspace < get_lowest_id_at(now() - NEW_WORKSPACE_AGE)
    group = workspace if is_old else ("new" if person else "unknown", address)
    return HTTPCaller(bucket, is_unidentified=person is None, workspace=workspace or group, group=group)


def find_max_upload_bytes(scope: Any) -> int | None:
    """Return how many bytes the body of an upload may have; null if the request is none: it then has the limit of all others.

    Files are uploaded, and the texts of OpenAPI documents. A client without a credential is refused anyway, and may send no large
    body.
    """
    if scope["method"] != "POST" or not scope["path"].startswith("/api/v1/") or not find_caller(scope["headers"])[1]:
        return None
    last = scope["path"].rpartition("/")[2]
    limits: dict[str, int] = {"files": settings.MAX_FILE_BYTES, "openapi-documents": MAX_DOCUMENT_BODY_BYTES}
    return limits[last] + MAX_FORM_OVERHEAD if last in limits else None


class Application:
    """Dispatches each connection by its type."""

    def __init__(self) -> None:
        self.health = Health()
        self._bridge = Bridge(
            wsgi,
            threads=settings.WEB_THREADS,
            max_active=settings.WEB_WAITING,
            uploads=Uploads(find_max_upload_bytes),
            identify=identify_caller,
            cpu_budget=settings.RATES["cpu"],
            workspace_cpu_budget=settings.RATES["workspace_cpu"],
        )
        self._http = LongPolling(self._bridge, identify=identify_caller)

    async def __call__(self, scope: Any, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] == "lifespan":
            await self._run_lifespan(receive, send)
        elif scope["type"] == "websocket":
            await sockets(scope, receive, send)
        elif scope["path"] in PATHS:
            await self.health.answer(scope["path"], send)
        else:
            await self._http(scope, receive, send)

    async def _run_lifespan(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        await receive()  # lifespan.startup
        refuse_to_serve_unsafely(web=True)
        await asyncio.get_running_loop().run_in_executor(None, _warm_up)
        self.health.is_warm = True
        await send({"type": "lifespan.startup.complete"})
        await receive()  # lifespan.shutdown
        self.health.is_warm = False
        await asyncio.get_running_loop().run_in_executor(None, self._close)
        await send({"type": "lifespan.shutdown.complete"})

    def _close(self) -> None:
        self._bridge.close()
        for connection in connections.all(initialized_only=True):
            close_pool = getattr(connection, "close_pool", None)
            if close_pool:
                close_pool()


def _warm_up() -> None:
    importlib.import_module(settings.ROOT_URLCONF)
    wait_for_migrations()
    host = (settings.ALLOWED_HOSTS or ["localhost"])[0].lstrip(".").replace("*", "localhost")
    for path in WARM_UP_PATHS:
        scope: Any = {
            "method": "GET",
            "scheme": "https" if settings.SECURE_SSL_REDIRECT else "http",
            "path": path,
            "query_string": b"",
            "http_version": "1.1",
            "headers": [(b"host", host.encode())],
        }
        response: Any = wsgi(build_environ(scope, io.BytesIO()), lambda *args: lambda part: None)
        b"".join(response)
        response.close()
    connections.close_all()
    freeze_collector()


application = Application()
