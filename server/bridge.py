"""Pass HTTP requests from an ASGI server to a WSGI application.

Django's own ASGI handler switches between event loop and threads several times per request, which takes 12-15 ms of CPU. The
bridge reads the body on the loop, does everything else in one thread, and sends the response from the loop.
"""

import asyncio
import io
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import IO, Any

from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope

from common.errors import AppError, LimitReached, TooLarge, Unavailable
from common.request_ids import HEADER, choose_request_id, set_request_id
from server import limits
from server.fair_queue import CpuBudget, HTTPCaller, RequestQueue
from server.uploads import BodyTooSlow, ClientGone, Uploads, declares_more_than

Environ = dict[str, Any]
Wsgi = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]
# Bytes of a response that are collected before they are sent, so that a slow reader occupies no thread. The rest is sent in parts.
MAX_BUFFERED = 1024 * 1024
REFUSAL_DELAY_SECONDS = 0.25
"""Seconds after which a caller over a limit is refused."""
MAX_DELAYED = 1000
"""Refusals that are delayed at the same time. More are sent immediately."""
# Headers without the prefix `HTTP_` in a WSGI environment.
UNPREFIXED = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}


def identify_by_ip_address(scope: HTTPScope) -> HTTPCaller:
    """Return the caller of requests from this IP address."""
    return HTTPCaller((scope.get("client") or ("",))[0], is_unidentified=True)


class Bridge:
    """One ASGI application around one WSGI application.

    `identify` returns the caller of a request, or raises an `AppError` to refuse it; it is called on the loop, before the body is
    read. At most `threads` requests are executed at once, and callers and workspaces take turns (`RequestQueue`). A caller has a
    `cpu_budget`: seconds of CPU per second, and the burst; a workspace has a `workspace_cpu_budget`. While `max_active` requests
    are active, further ones get 503. A request is active from the end of its body until its response is made, so that clients who
    send or read slowly do not count. A body over `max_body` bytes gets 413 before it is read to its end (MSG8), unless it is an
    upload.
    """

    def __init__(
        self,
        wsgi: Wsgi,
        *,
        threads: int,
        max_active: int,
        max_body: int = limits.MAX_BODY_BYTES,
        uploads: Uploads | None = None,
        identify: Callable[[HTTPScope], HTTPCaller] = identify_by_ip_address,
        cpu_budget: tuple[float, float] = (0, 0),
        workspace_cpu_budget: tuple[float, float] = (0, 0),
    ) -> None:
        self._wsgi = wsgi
        self._identify = identify
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="http")
        self._queue = RequestQueue(
            threads,
            budget=CpuBudget(*cpu_budget),
            workspace_budget=CpuBudget(*workspace_cpu_budget),
            max_waiting_of_group=max(1, max_active // 2),
        )
        self._max_active = max_active
        self._max_body = max_body
        self._uploads = uploads
        self._active_requests = 0
        self._incomplete_bytes: Counter[Hashable] = Counter()  # of bodies: of all callers, of groups and of callers
        self._delayed_refusals = 0

    async def __call__(self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        request_id = choose_request_id(scope["headers"])

        async def send_with_id(event: Any) -> None:
            if event["type"] == "http.response.start":
                event["headers"].append((HEADER, request_id.encode()))
            await send(event)

        await self._answer(scope, receive, send_with_id, request_id)

    async def _answer(self, scope: HTTPScope, receive: ASGIReceiveCallable, send: Any, request_id: str) -> None:
        try:
            caller = self._identify(scope)
        except AppError as error:
            await self._delay_refusal()
            await self._send_all(build_refusal(error, closes_connection=_has_body(scope)), send)
            return
        try:
            if self._uploads is not None and (max_bytes := self._uploads.find_max_bytes(scope)) is not None:
                async with self._uploads.receive(caller, scope, receive, max_bytes=max_bytes) as body:
                    events = await self._respond(caller, build_environ(scope, body), send, request_id)
            else:
                body = io.BytesIO(await self._read_body(caller, scope, receive))
                events = await self._respond(caller, build_environ(scope, body), send, request_id)
        except (TooLarge, BodyTooSlow, Unavailable, LimitReached) as error:
            events = build_refusal(error)
        except ClientGone:
            return
        await self._send_all(events, send)

    async def _delay_refusal(self) -> None:
        """Wait before a refusal, to slow down clients that send a refused request again at once."""
        if self._delayed_refusals < MAX_DELAYED:
            self._delayed_refusals += 1
            try:
                await asyncio.sleep(REFUSAL_DELAY_SECONDS)
            finally:
                self._delayed_refusals -= 1

    async def _send_all(self, events: Iterable[Any], send: ASGISendCallable) -> None:
        for event in events:
            await send(event)

    def close(self) -> None:
        """Wait for the requests that are being executed."""
        self._threads.shutdown()

    async def _read_body(self, caller: HTTPCaller, scope: HTTPScope, receive: ASGIReceiveCallable) -> bytes:
        if declares_more_than(scope, self._max_body):
            raise self._build_too_large_error()
        body = bytearray()
        try:
            async with asyncio.timeout(limits.BODY_TIMEOUT_SECONDS):
                while True:
                    event = await receive()
                    if event["type"] != "http.request":
                        raise ClientGone
                    part = event.get("body", b"")
                    body += part
                    is_overloaded = self._add_incomplete_bytes(caller, len(part))
                    if len(body) > self._max_body:
                        raise self._build_too_large_error()
                    if is_overloaded:
                        raise _build_overload_error()
                    if not event.get("more_body"):
                        break
        except TimeoutError:
            raise BodyTooSlow("The request did not come to its end in time.") from None
        finally:
            self._add_incomplete_bytes(caller, -len(body))
        return bytes(body)

    def _add_incomplete_bytes(self, caller: HTTPCaller, size: int) -> bool:
        """Count bytes of an incomplete body. Return whether there are too many: of all callers, of the group, or of the caller."""
        is_overloaded = False
        for key, share in (("all", 1), (("group", caller.path[0]), 4), (caller, 8)):
            self._incomplete_bytes[key] += size
            is_overloaded = is_overloaded or self._incomplete_bytes[key] > limits.MAX_INCOMPLETE_BODY_BYTES // share
            if not self._incomplete_bytes[key]:
                del self._incomplete_bytes[key]
        return is_overloaded

    def _build_too_large_error(self) -> TooLarge:
        return TooLarge(f"A request may have {self._max_body:,} bytes at most.")

    async def _respond(self, caller: HTTPCaller, environ: Environ, send: Any, request_id: str) -> list[Any]:
        """Call the application when it is the caller's turn. Return the events that remain to be sent."""
        if self._active_requests >= self._max_active:
            raise _build_overload_error()
        loop = asyncio.get_running_loop()

        async def deliver(event: Any) -> None:
            await send(event)

        def send_from_thread(event: Any) -> None:
            asyncio.run_coroutine_threadsafe(deliver(event), loop).result()

        self._active_requests += 1
        try:
            async with self._queue.wait_for_turn(caller):
                seconds, events = await loop.run_in_executor(
                    self._threads, self._time_wsgi_call, environ, send_from_thread, request_id
                )
                self._queue.charge(caller, seconds)
                return events
        finally:
            self._active_requests -= 1

    def _time_wsgi_call(
        self, environ: Environ, send: Callable[[Any], None], request_id: str
    ) -> tuple[float, list[Any]]:
        """Return the seconds of CPU of `_call_wsgi` and its result. Runs in a thread."""
        began = time.thread_time()
        set_request_id(request_id)
        try:
            events = self._call_wsgi(environ, send)
        finally:
            set_request_id("")
        return time.thread_time() - began, events

    def _call_wsgi(self, environ: Environ, send: Callable[[Any], None]) -> list[Any]:
        """Return the events that the loop has to send. The beginning of a response over `MAX_BUFFERED` bytes is already sent by
        `send`. Runs in a thread."""
        started: list[Any] = []

        def start_response(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> None:
            raw = [(name.lower().encode("latin-1"), value.strip().encode("latin-1")) for name, value in headers]
            started[:] = [{"type": "http.response.start", "status": int(status[:3]), "headers": raw}]

        response = self._wsgi(environ, start_response)
        try:
            buffer = bytearray()
            for part in response:
                buffer += part
                if len(buffer) > MAX_BUFFERED:
                    for event in [*started, _build_body_event(bytes(buffer), more=True)]:
                        send(event)
                    started.clear()
                    buffer.clear()
            return [*started, _build_body_event(bytes(buffer), more=False)]
        finally:
            close = getattr(response, "close", None)
            if close is not None:
                close()


def build_environ(scope: HTTPScope, body: IO[bytes]) -> Environ:
    """Convert a request to the environment of PEP 3333."""
    # A chunked body has no declared length; WSGI needs one.
    length = body.seek(0, io.SEEK_END)
    body.seek(0)
    server = scope.get("server") or ("localhost", 80)
    client = scope.get("client") or ("", 0)
    environ: Environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": scope.get("root_path", ""),
        "PATH_INFO": scope["path"].encode().decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "REMOTE_ADDR": client[0],
        "REMOTE_PORT": str(client[1]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope.get("scheme", "http"),
        "wsgi.input": body,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for raw_name, raw_value in scope["headers"]:
        name = raw_name.decode("latin-1")
        # `X_Real_IP` and `X-Real-IP` would become the same key, so that a client could forge a header that a proxy sets.
        if "_" in name:
            continue
        key = UNPREFIXED.get(name) or "HTTP_" + name.upper().replace("-", "_")
        value = raw_value.decode("latin-1")
        if key in environ:
            value = f"{environ[key]}{'; ' if key == 'HTTP_COOKIE' else ','}{value}"
        environ[key] = value
    environ["CONTENT_LENGTH"] = str(length)
    return environ


def _build_body_event(part: bytes, *, more: bool) -> Any:
    return {"type": "http.response.body", "body": part, "more_body": more}


def _build_overload_error() -> Unavailable:
    return Unavailable("Too many requests wait here.", hints=["Try again in a moment."])


def _has_body(scope: HTTPScope) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") and value != b"0" for name, value in scope["headers"])


def build_refusal(error: AppError, *, closes_connection: bool = True) -> list[Any]:
    """Return the events of the response to a refused request."""
    body = json.dumps(error.body()).encode()
    seconds = error.data.get("seconds", 2 if error.status == 503 else None)
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        # The rest of the body is not read, so the connection cannot be used again.
        *([(b"connection", b"close")] if closes_connection else []),
        *([(b"retry-after", str(seconds).encode())] if seconds else []),
    ]
    start = {"type": "http.response.start", "status": error.status, "headers": headers}
    return [start, _build_body_event(body, more=False)]
