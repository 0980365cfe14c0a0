"""The bridge converts ASGI requests to WSGI and back, and limits bodies, waiting requests and refusals."""

import asyncio
import json
import logging
import re
import threading
from collections.abc import Iterable
from typing import Any

import pytest

from common.errors import LimitReached
from common.request_ids import AddRequestId
from server import limits
from server.bridge import REFUSAL_DELAY_SECONDS, Bridge, identify_by_ip_address
from server.fair_queue import HTTPCaller


class Exchange:
    """One request, with the events that a server would send and receive."""

    def __init__(self, *parts: bytes, method: str = "POST", path: str = "/x", headers: Any = ()) -> None:
        self.scope: Any = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "query_string": b"a=1",
            "headers": list(headers),
            "client": ("10.1.2.3", 5),
            "server": ("host", 80),
            "scheme": "https",
        }
        events = [{"type": "http.request", "body": part, "more_body": True} for part in parts]
        self._events: list[Any] = [*events, {"type": "http.request", "body": b"", "more_body": False}]
        self.read = 0
        self.sent: list[Any] = []

    async def receive(self) -> Any:
        self.read += 1
        return self._events.pop(0) if self._events else {"type": "http.disconnect"}

    async def send(self, event: Any) -> None:
        self.sent.append(event)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def body(self) -> bytes:
        return b"".join(event.get("body", b"") for event in self.sent)


def echo(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
    seen = {name: value for name, value in environ.items() if isinstance(value, str)}
    start("200 OK", [("X-Test", "ä"), ("Set-Cookie", " a=1")])
    return [json.dumps(seen | {"body": environ["wsgi.input"].read().decode()}).encode()]


def build_bridge(wsgi: Any = echo, **limits: Any) -> Bridge:
    return Bridge(wsgi, **({"threads": 2, "max_active": 10, "max_body": 100} | limits))


async def test_a_request_is_converted_as_in_pep_3333() -> None:
    headers = [
        (b"content-type", b"text/plain"),
        (b"cookie", b"a=1"),
        (b"cookie", b"b=2"),
        (b"accept", b"x"),
        (b"accept", b"y"),
    ]
    exchange = Exchange(b"hel", b"lo", path="/聊天", headers=headers)
    await build_bridge()(exchange.scope, exchange.receive, exchange.send)
    seen = json.loads(exchange.body)
    assert seen["body"] == "hello"
    assert seen["CONTENT_LENGTH"] == "5"
    assert seen["CONTENT_TYPE"] == "text/plain"
    assert seen["HTTP_COOKIE"] == "a=1; b=2"
    assert seen["HTTP_ACCEPT"] == "x,y"
    assert seen["PATH_INFO"].encode("latin-1").decode() == "/聊天"
    assert seen["REMOTE_ADDR"] == "10.1.2.3"
    assert seen["wsgi.url_scheme"] == "https"
    assert exchange.sent[0]["headers"][:-1] == [(b"x-test", b"\xe4"), (b"set-cookie", b"a=1")]


async def test_a_header_with_an_underscore_cannot_forge_one_of_a_proxy() -> None:
    exchange = Exchange(headers=[(b"x_forwarded_for", b"1.1.1.1"), (b"x-forwarded-for", b"2.2.2.2")])
    await build_bridge()(exchange.scope, exchange.receive, exchange.send)
    assert json.loads(exchange.body)["HTTP_X_FORWARDED_FOR"] == "2.2.2.2"


async def test_MSG8_a_body_whose_declared_length_is_too_large_is_not_read() -> None:
    exchange = Exchange(b"x" * 101, headers=[(b"content-length", b"101")])
    await build_bridge()(exchange.scope, exchange.receive, exchange.send)
    assert exchange.status == 413
    assert json.loads(exchange.body)["error"]["code"] == "too_large"
    assert exchange.read == 0


async def test_MSG8_a_body_without_a_length_is_read_up_to_the_limit_only() -> None:
    exchange = Exchange(b"x" * 60, b"x" * 60, b"x" * 60)
    await build_bridge()(exchange.scope, exchange.receive, exchange.send)
    assert exchange.status == 413
    assert exchange.read == 2


async def test_a_body_of_exactly_the_limit_is_accepted() -> None:
    exchange = Exchange(b"x" * 100, headers=[(b"content-length", b"100")])
    await build_bridge()(exchange.scope, exchange.receive, exchange.send)
    assert exchange.status == 200


async def test_a_client_that_disconnects_gets_no_response() -> None:
    def never(environ: Any, start: Any) -> Any:
        raise AssertionError("an incomplete request was executed")

    exchange = Exchange()
    exchange._events = [{"type": "http.request", "body": b"a", "more_body": True}]
    await build_bridge(never)(exchange.scope, exchange.receive, exchange.send)
    assert exchange.sent == []


@pytest.mark.parametrize("buffered", [4, 1000])
async def test_a_long_response_is_sent_in_parts_and_a_short_one_at_once(monkeypatch: Any, buffered: int) -> None:
    monkeypatch.setattr("server.bridge.MAX_BUFFERED", buffered)
    closed: list[bool] = []

    class Parts:
        def __iter__(self) -> Any:
            yield from (b"one", b"two", b"three")

        def close(self) -> None:
            closed.append(True)

    def stream(environ: Any, start: Any) -> Any:
        start("201 Created", [])
        return Parts()

    exchange = Exchange()
    await build_bridge(stream)(exchange.scope, exchange.receive, exchange.send)
    assert exchange.status == 201
    sent = [(event["body"], event["more_body"]) for event in exchange.sent[1:]]
    assert (
        sent
        == {
            4: [(b"onetwo", True), (b"three", True), (b"", False)],
            1000: [(b"onetwothree", False)],
        }[buffered]
    )
    assert closed == [True]


async def test_more_requests_than_may_wait_get_503_at_once() -> None:
    gate = threading.Event()

    def slow(environ: Any, start: Any) -> Iterable[bytes]:
        gate.wait(60)
        return echo(environ, start)

    harness = build_bridge(slow, threads=1, max_active=2)
    inside = [Exchange(), Exchange()]
    tasks = [asyncio.create_task(harness(one.scope, one.receive, one.send)) for one in inside]
    await asyncio.sleep(0)
    third = Exchange()
    await harness(third.scope, third.receive, third.send)
    assert third.status == 503
    assert (b"retry-after", b"2") in third.sent[0]["headers"]
    gate.set()
    await asyncio.gather(*tasks)
    assert [one.status for one in inside] == [200, 200]


class Dripping(Exchange):
    """A client that sends the first part of its body, and then nothing."""

    async def receive(self) -> Any:
        if self.read:
            await asyncio.Event().wait()
        return await super().receive()


async def test_MSG8_a_slow_body_gets_408_and_occupies_no_thread(monkeypatch: Any) -> None:
    monkeypatch.setattr(limits, "BODY_TIMEOUT_SECONDS", 0.2)
    harness = build_bridge(threads=1, max_active=1)
    slow = [Dripping(b"a") for _ in range(20)]
    tasks = [asyncio.create_task(harness(one.scope, one.receive, one.send)) for one in slow]
    await asyncio.sleep(0)
    quick = Exchange(b"b")
    await harness(quick.scope, quick.receive, quick.send)
    assert quick.status == 200
    assert not any(task.done() for task in tasks)
    await asyncio.gather(*tasks)
    assert {one.status for one in slow} == {408}
    assert json.loads(slow[0].body)["error"]["code"] == "limit_reached"


async def test_MSG8_the_memory_of_all_incomplete_bodies_is_limited(monkeypatch: Any) -> None:
    monkeypatch.setattr(limits, "MAX_INCOMPLETE_BODY_BYTES", 2000)
    harness = build_bridge()
    slow = [Dripping(b"x" * 100) for _ in range(2)]
    tasks = [asyncio.create_task(harness(one.scope, one.receive, one.send)) for one in slow]
    await asyncio.sleep(0)
    third = Exchange(b"x" * 100)
    await harness(third.scope, third.receive, third.send)
    assert third.status == 503
    other = Exchange(b"x" * 100)
    other.scope["client"] = ("10.9.9.9", 5)
    await harness(other.scope, other.receive, other.send)
    assert other.status == 200  # a caller gets an eighth
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    fourth = Exchange(b"x" * 100)
    await harness(fourth.scope, fourth.receive, fourth.send)
    assert fourth.status == 200


async def test_MSG8_a_client_that_reads_slowly_occupies_no_thread() -> None:
    class Unread(Exchange):
        def __init__(self) -> None:
            super().__init__()
            self.is_answered = asyncio.Event()

        async def send(self, event: Any) -> None:
            self.is_answered.set()
            await asyncio.Event().wait()

    harness, tasks = build_bridge(threads=1, max_active=1), []
    for _ in range(3):
        unread = Unread()
        tasks.append(asyncio.create_task(harness(unread.scope, unread.receive, unread.send)))
        await unread.is_answered.wait()
    quick = Exchange()
    await harness(quick.scope, quick.receive, quick.send)
    assert quick.status == 200
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_an_exception_of_the_application_is_raised_to_the_server() -> None:
    def broken(environ: Any, start: Any) -> Any:
        raise RuntimeError("bug")

    exchange = Exchange()
    with pytest.raises(RuntimeError, match="bug"):
        await build_bridge(broken)(exchange.scope, exchange.receive, exchange.send)
    assert exchange.sent == []


def refuse_some(scope: Any) -> HTTPCaller:
    if scope["path"] == "/refused":
        raise LimitReached("Too many requests at once.")
    return identify_by_ip_address(scope)


async def test_a_refusal_is_delayed_without_delaying_other_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    is_over = asyncio.Event()

    async def sleep_until_over(seconds: float) -> None:
        assert seconds == REFUSAL_DELAY_SECONDS
        await is_over.wait()

    monkeypatch.setattr("server.bridge.MAX_DELAYED", 2)
    monkeypatch.setattr("server.bridge.asyncio.sleep", sleep_until_over)
    bridge = build_bridge(identify=refuse_some)
    refused, served = [Exchange(path="/refused") for _ in range(3)], Exchange(path="/x")
    tasks = [asyncio.create_task(bridge(upload.scope, upload.receive, upload.send)) for upload in refused]
    await bridge(served.scope, served.receive, served.send)
    assert (served.status, refused[2].status) == (200, 429), "more than two are not delayed"
    assert (refused[0].sent, refused[1].sent) == ([], [])
    is_over.set()
    await asyncio.gather(*tasks)
    assert [upload.status for upload in refused] == [429] * 3
    assert [upload.read for upload in refused] == [0] * 3


def get_request_id_of(exchange: Exchange) -> str:
    [id] = [value for name, value in exchange.sent[0]["headers"] if name == b"x-request-id"]
    return str(id, "ascii")


@pytest.mark.parametrize("given", ["0123456789abcdef0123456789abcdef", "8f14e45f-ceea-467f-a9d4-1b2c3d4e5f60"])
async def test_an_answer_and_its_log_lines_have_the_id_that_a_proxy_gave_the_request(given):
    seen: list[Any] = []

    def log(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        record = logging.makeLogRecord({"msg": "Something happened"})
        AddRequestId().filter(record)
        seen.append(vars(record)["request_prefix"])
        return echo(environ, start)

    exchange = Exchange(headers=[(b"x-request-id", given.encode())])
    await build_bridge(log)(exchange.scope, exchange.receive, exchange.send)
    assert (get_request_id_of(exchange), seen) == (given, [f"[{given}] "])


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(b"x-request-id", b"short")],
        [(b"x-request-id", b"a b\x1b[31m-12345678")],
        [(b"x-request-id", b"x" * 65)],
        [(b"x-request-id", b"atl_12345678901234567890")],
        [(b"x-request-id", b"0123456789"), (b"x-request-id", b"9876543210")],
    ],
)
async def test_a_request_without_a_safe_id_gets_a_new_one(headers):
    ids = []
    for _ in range(2):
        exchange = Exchange(headers=headers)
        await build_bridge()(exchange.scope, exchange.receive, exchange.send)
        ids.append(get_request_id_of(exchange))
    assert ids[0] != ids[1]
    assert all(re.fullmatch(r"[0-9a-f]{32}", id) for id in ids)


async def test_a_refusal_has_a_request_id_too():
    exchange = Exchange(b"x" * 200)
    await build_bridge(max_body=100)(exchange.scope, exchange.receive, exchange.send)
    assert exchange.status == 413
    assert get_request_id_of(exchange)
