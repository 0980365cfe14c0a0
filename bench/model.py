"""The model of the benchmark: an OpenAI-compatible server that streams tokens at a given rate, as raw ASGI in its own process.

The rate is in the path, so that no body has to be parsed: `/FIRST_MS/PER_SECOND/COUNT/v1/chat/completions`. Below `/tree/` it
plays agents that give each other tasks: their prompts say how many, and to whom (`build_tree_prompt`).
`GET /request-times` returns the times of the requests since the last call (seconds of the machine's monotonic clock, which is the
same in all processes).
"""

import asyncio
import json
import re
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

HEAD = {"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]}
request_times: list[float] = []


def _event(choices: list[dict[str, Any]], **more: Any) -> bytes:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    return f"data: {json.dumps(head | {'choices': choices} | more)}\n\n".encode()


@lru_cache
def build_events(count: int) -> list[bytes]:
    """Build one event for each token."""
    return [_event([{"index": 0, "delta": {"content": f"w{n} "}, "finish_reason": None}]) for n in range(count)]


@lru_cache
def build_end(count: int) -> bytes:
    """Build the last events: the finish reason, the usage, and `[DONE]`."""
    usage = {"prompt_tokens": 11, "completion_tokens": count, "total_tokens": 11 + count}
    finish = _event([{"index": 0, "delta": {}, "finish_reason": "stop"}])
    return finish + _event([], usage=usage) + b"data: [DONE]\n\n"


async def application(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """An ASGI application."""
    if scope["path"] == "/request-times":
        await send_request_times(send)
        return
    request_times.append(time.monotonic())
    body = b""
    while True:
        received = await receive()
        body += received.get("body", b"")
        if not received.get("more_body"):
            break
    if scope["path"].startswith("/tree/"):
        await answer_agent_of_tree(send, json.loads(body), seconds=float(scope["path"].split("/")[2]))
        return
    first, rate, count = (float(part) for part in scope["path"].split("/")[1:4])
    await stream_answer(send, first / 1000, rate, int(count))


async def stream_answer(send: Send, first: float, rate: float, count: int) -> None:
    """Stream the tokens: the n-th is sent `first + n / rate` seconds after the request, however late the one before was."""
    loop = asyncio.get_running_loop()
    began = loop.time() + first
    await send(HEAD)
    for number, word in enumerate(build_events(count)):
        wait = began + (number / rate if rate else 0) - loop.time()
        if wait > 0:
            await asyncio.sleep(wait)
        await send({"type": "http.response.body", "body": word, "more_body": True})
    await send({"type": "http.response.body", "body": build_end(count)})


TREE_PATHS = {0.1: "tree/0.1/v1", 1: "tree/1/v1"}
"""The path of a model that gives tasks, by the seconds that each of its answers takes."""


def build_tree_prompt(tasks: int, handle: str = "") -> str:
    """Return the prompt of an agent that gives another one so many tasks, and answers when they are done."""
    return f"TASKS {tasks} TO {handle}"


async def answer_agent_of_tree(send: Send, body: dict[str, Any], *, seconds: float) -> None:
    """Give the tasks that the prompt names at once, or answer with a word if they are done. Each takes so many seconds."""
    await asyncio.sleep(seconds)
    found = re.search(r"TASKS (\d+) TO ([\w-]*)", json.dumps(body["messages"][0]))
    tasks = int(found[1]) if found and body["messages"][-1]["role"] != "tool" else 0
    delta: dict[str, Any] = {"content": "done"}
    if found and tasks:
        arguments = [json.dumps({"name": found[2], "task": f"task {number}"}) for number in range(tasks)]
        delta = {
            "tool_calls": [
                {"index": n, "id": f"c{n}", "type": "function", "function": {"name": "delegate", "arguments": text}}
                for n, text in enumerate(arguments)
            ]
        }
    finish = _event([{"index": 0, "delta": {}, "finish_reason": "tool_calls" if tasks else "stop"}])
    usage = _event([], usage={"prompt_tokens": 11, "completion_tokens": 1, "total_tokens": 12})
    await send(HEAD)
    events = _event([{"index": 0, "delta": delta, "finish_reason": None}]) + finish + usage + b"data: [DONE]\n\n"
    await send({"type": "http.response.body", "body": events})


async def send_request_times(send: Send) -> None:
    """Send the times of the requests, and clear them."""
    body = json.dumps(request_times).encode()
    request_times.clear()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"application/json")]})
    await send({"type": "http.response.body", "body": body})


PACES = [(50, 5), (50, 20), (25, 100), (25, 500), (0, 1), (0.2, 500), (0, 100_000)]
"""`PER_SECOND` and `COUNT` of all rows: on a private host, only the paths that the operator lists are allowed."""


class Model:
    """The URL of a running model, and its process id."""

    def __init__(self, port: int, pid: int) -> None:
        self.host = f"127.0.0.1:{port}"
        self.pid = pid

    def list_paths(self) -> list[str]:
        """Return the host and path of each rate, as in `ATELIER_ALLOW_PRIVATE_HOSTS`."""
        paces = [self.build_base(rate=rate, count=count).removeprefix("http://") for rate, count in PACES]
        return [*paces, *(f"{self.host}/{path}" for path in TREE_PATHS.values())]

    def build_base(self, *, first_ms: int = 0, rate: float = 0, count: int) -> str:
        """Return the `api_base` of a rate, in tokens a second; 0 means all at once."""
        return f"http://{self.host}/{first_ms}/{rate}/{count}/v1"

    def read_request_times(self) -> list[float]:
        """Return the times of the requests since the last call, in seconds of the monotonic clock."""
        import urllib.request

        with urllib.request.urlopen(f"http://{self.host}/request-times", timeout=10) as answer:
            times: list[float] = json.load(answer)
        return times


@contextmanager
def run_model(nice: int = 0) -> Iterator[Model]:
    """Run the model in its own process."""
    import subprocess

    from bench.processes import start_module
    from common.processes import find_free_port, wait_until

    port = find_free_port()
    process = start_module("bench.model", str(port), nice=nice)
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
        model.read_request_times()
    except OSError:
        return False
    return True


def main(port: int) -> None:
    """Serve until SIGTERM."""
    import uvicorn

    uvicorn.run(
        application,
        port=port,
        loop="uvloop",
        http="httptools",
        lifespan="off",
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=1,
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
