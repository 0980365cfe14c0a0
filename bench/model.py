"""The work model: an OpenAI-compatible server that says the same words at a set pace, as raw ASGI in its own process.

The pace is in the address, so that no body has to be understood: `/FIRST_MS/PER_SECOND/COUNT/v1/chat/completions`.
`GET /asked` tells when it was asked since the last time (seconds of the machine's monotonic clock, the same in all
processes).
"""

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

HEAD = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
asked: list[float] = []


def _event(choices: list[dict[str, Any]], **more: Any) -> bytes:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    return f"data: {json.dumps(head | {'choices': choices} | more)}\n\n".encode()


@lru_cache
def words(count: int) -> list[bytes]:
    """One event for each token."""
    return [_event([{"index": 0, "delta": {"content": f"w{n} "}, "finish_reason": None}]) for n in range(count)]


@lru_cache
def ending(count: int) -> bytes:
    """The finish, the usage, and the mark of the end."""
    usage = {"prompt_tokens": 11, "completion_tokens": count, "total_tokens": 11 + count}
    finish = _event([{"index": 0, "delta": {}, "finish_reason": "stop"}])
    return finish + _event([], usage=usage) + b"data: [DONE]\n\n"


async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """An ASGI application."""
    if scope["path"] == "/asked":
        await tell(send)
        return
    asked.append(time.monotonic())
    while (await receive()).get("more_body"):
        pass
    first, rate, count = (float(part) for part in scope["path"].split("/")[1:4])
    await say(send, first / 1000, rate, int(count))


async def say(send: Send, first: float, rate: float, count: int) -> None:
    """Stream the words: the n-th is due `first + n / rate` seconds after the request, however late the one before was."""
    loop = asyncio.get_running_loop()
    began = loop.time() + first
    await send(HEAD)
    for number, word in enumerate(words(count)):
        wait = began + (number / rate if rate else 0) - loop.time()
        if wait > 0:
            await asyncio.sleep(wait)
        await send({"type": "http.response.body", "body": word, "more_body": True})
    await send({"type": "http.response.body", "body": ending(count)})


async def tell(send: Send) -> None:
    """When we were asked; forgotten with that."""
    body = json.dumps(asked).encode()
    asked.clear()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": body})


PACES = [(50, 5), (50, 20), (25, 100), (25, 500), (0, 1), (0.2, 500), (0, 100_000)]
"""`PER_SECOND` and `COUNT` of all rows: on a private host, an installation talks to paths that its operator names."""


class Model:
    """The model as the bench sees it."""

    def __init__(self, port: int, pid: int) -> None:
        self.host = f"127.0.0.1:{port}"
        self.pid = pid

    def paths(self) -> list[str]:
        """Where each pace is, as the operator names it."""
        return [self.base(rate=rate, count=count).removeprefix("http://") for rate, count in PACES]

    def base(self, *, first_ms: int = 0, rate: float = 0, count: int) -> str:
        """The `api_base` of a pace; `rate` in tokens a second, 0 meaning at once."""
        return f"http://{self.host}/{first_ms}/{rate}/{count}/v1"

    def asked(self) -> list[float]:
        """When it was asked since the last time, in seconds of the monotonic clock."""
        import urllib.request

        with urllib.request.urlopen(f"http://{self.host}/asked", timeout=10) as answer:
            times: list[float] = json.load(answer)
        return times


@contextmanager
def running(nice: int = 0) -> Iterator[Model]:
    """The model in its own process."""
    import subprocess

    from bench.processes import child
    from common.processes import find_free_port, wait_until

    port = find_free_port()
    process = child("bench.model", str(port), nice=nice)
    model = Model(port, process.pid)
    try:
        if not wait_until(lambda: _answers(model), process, seconds=20):
            raise TimeoutError("the work model does not get ready")
        yield model
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


def _answers(model: Model) -> bool:
    try:
        model.asked()
    except OSError:
        return False
    return True


def main(port: int) -> None:
    """Serve until SIGTERM."""
    import uvicorn

    uvicorn.run(application, port=port, loop="uvloop", http="httptools", lifespan="off", access_log=False,
                log_level="warning", timeout_graceful_shutdown=1)  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]))
