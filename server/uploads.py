"""Receives the bodies of uploads into temporary files, because they are too large to be kept in memory."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from tempfile import TemporaryFile
from typing import IO

from asgiref.typing import ASGIReceiveCallable, HTTPScope

from common.errors import AppError, Code, LimitReached, TooLarge, Unavailable
from server import limits
from server.fair_queue import HTTPCaller


class ClientGone(Exception):
    """The client disconnected before its request was complete."""


class BodyTooSlow(AppError):
    """The body of a request arrives too slowly."""

    status = 408
    default_code = Code.LIMIT_REACHED


def declares_more_than(scope: HTTPScope, max_bytes: int) -> bool:
    """Return whether the request names a length of its body over `max_bytes`."""
    return any(name == b"content-length" and int(value) > max_bytes for name, value in scope["headers"])


class Uploads:
    """Receives uploads: the requests for which `find_max_bytes` returns how many bytes their bodies may have, and not null."""

    def __init__(self, find_max_bytes: Callable[[HTTPScope], int | None]) -> None:
        self.find_max_bytes = find_max_bytes
        self._active: Counter[HTTPCaller] = Counter()

    @asynccontextmanager
    async def receive(
        self, caller: HTTPCaller, scope: HTTPScope, receive: ASGIReceiveCallable, *, max_bytes: int
    ) -> AsyncIterator[IO[bytes]]:
        """Read the body of a request into a temporary file, which is deleted at the end of the block.

        Raises `TooLarge` (before the body is read, if the request names its length), `LimitReached`, `Unavailable`,
        `BodyTooSlow`, and `ClientGone`.
        """
        if declares_more_than(scope, max_bytes):
            raise _build_too_large_error(max_bytes)
        if self._active[caller] >= limits.MAX_UPLOADS_OF_CALLER:
            raise LimitReached("Too many of your uploads are under way.", hints=["Wait until one of them is done."])
        unidentified = sum(count for other, count in self._active.items() if other.is_unidentified)
        of_group = sum(count for other, count in self._active.items() if other.path[0] == caller.path[0])
        is_full = of_group >= limits.MAX_UPLOADS_OF_GROUP or (
            caller.is_unidentified and unidentified >= limits.MAX_UPLOADS_OF_UNIDENTIFIED_CALLERS
        )
        if is_full or self._active.total() >= limits.MAX_UPLOADS:
            raise Unavailable("Too many uploads are under way here.", hints=["Try again in a moment."])
        self._active[caller] += 1
        try:
            with TemporaryFile() as body:
                try:
                    async with asyncio.timeout(limits.UPLOAD_TIMEOUT_SECONDS):
                        await self._read(receive, body, max_bytes)
                except TimeoutError:
                    raise BodyTooSlow("The upload did not come to its end in time.") from None
                body.seek(0)
                yield body
        finally:
            self._active[caller] -= 1
            if not self._active[caller]:
                del self._active[caller]

    async def _read(self, receive: ASGIReceiveCallable, body: IO[bytes], max_bytes: int) -> None:
        size = 0
        while True:
            async with asyncio.timeout(limits.UPLOAD_IDLE_SECONDS):
                event = await receive()
            if event["type"] != "http.request":
                raise ClientGone
            part = event.get("body", b"")
            size += len(part)
            if size > max_bytes:
                raise _build_too_large_error(max_bytes)
            body.write(part)
            if not event.get("more_body"):
                return


def _build_too_large_error(max_bytes: int) -> TooLarge:
    return TooLarge(f"A file may have {max_bytes - limits.MAX_FORM_OVERHEAD:,} bytes at most.")
