"""The body of an upload goes into a temporary file, within limits of its own."""

import asyncio
import json
from typing import Any

import pytest
from django.conf import settings

from common.errors import Unavailable
from config.asgi import find_max_upload_bytes
from server import limits
from server.bridge import Bridge
from server.fair_queue import HTTPCaller
from server.uploads import Uploads
from tests.server.test_bridge import Exchange


def count_bytes(environ: dict[str, Any], start: Any) -> list[bytes]:
    body = environ["wsgi.input"].read()
    start("200 OK", [])
    return [json.dumps([len(body), environ["CONTENT_LENGTH"]]).encode()]


def make_bridge(**limits: Any) -> Bridge:
    uploads = Uploads(lambda scope: 1000 if scope["path"].endswith("/files") else None)
    return Bridge(count_bytes, threads=2, max_active=10, max_body=100, uploads=uploads, **limits)


async def send(bridge: Bridge, *parts: bytes, path: str = "/files", headers: Any = ()) -> Exchange:
    exchange = Exchange(*parts, path=path, headers=headers)
    await bridge(exchange.scope, exchange.receive, exchange.send)
    return exchange


async def test_an_upload_may_be_larger_than_other_bodies():
    exchange = await send(make_bridge(), b"x" * 400, b"y" * 400)
    assert json.loads(exchange.body) == [800, "800"]
    assert (await send(make_bridge(), b"x" * 101, path="/messages")).status == 413


async def test_an_upload_that_is_too_large_is_refused():
    exchange = await send(make_bridge(), b"x" * 600, b"y" * 600, b"z" * 600)
    assert exchange.status == 413
    assert exchange.read == 2
    assert json.loads(exchange.body)["error"]["code"] == "too_large"


async def test_a_declared_length_that_is_too_large_is_refused_before_the_body_is_read():
    exchange = await send(make_bridge(), b"x", headers=[(b"content-length", b"1001")])
    assert (exchange.status, exchange.read) == (413, 0)


async def test_a_caller_has_a_limited_number_of_uploads_at_the_same_time():
    bridge = make_bridge()
    waiting = asyncio.Event()

    async def never() -> Any:
        waiting.set()
        await asyncio.Event().wait()

    uploads = [Exchange(b"x", path="/files") for _ in range(limits.MAX_UPLOADS_OF_CALLER)]
    tasks = [asyncio.ensure_future(bridge(upload.scope, never, upload.send)) for upload in uploads]
    await waiting.wait()
    await asyncio.sleep(0)
    assert (await send(bridge, b"x")).status == 429
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (await send(bridge, b"x")).status == 200


async def test_a_process_receives_a_limited_number_of_uploads(monkeypatch):
    monkeypatch.setattr(limits, "MAX_UPLOADS", 0)
    assert (await send(make_bridge(identify=lambda scope: HTTPCaller("somebody")), b"x")).status == 503


async def test_unknown_callers_together_leave_room_for_others(monkeypatch):
    monkeypatch.setattr(limits, "MAX_UPLOADS_OF_UNIDENTIFIED_CALLERS", 0)
    assert (await send(make_bridge(), b"x")).status == 503
    assert (await send(make_bridge(identify=lambda scope: HTTPCaller("alice")), b"x")).status == 200


async def test_FAIR1_the_people_of_a_workspace_leave_room_for_uploads_of_others(monkeypatch):
    people = [HTTPCaller("mallory", workspace="theirs", group="theirs"), HTTPCaller("alice")]
    monkeypatch.setattr(limits, "MAX_UPLOADS_OF_GROUP", 1)
    uploads = Uploads(lambda scope: 1000)
    exchange = Exchange(b"x", path="/files")
    async with uploads.receive(people[0], exchange.scope, exchange.receive, max_bytes=1000):
        another = HTTPCaller("oscar", workspace="theirs", group="theirs")
        with pytest.raises(Unavailable):
            async with uploads.receive(another, exchange.scope, exchange.receive, max_bytes=1000):
                pass
        exchange = Exchange(b"x", path="/files")
        async with uploads.receive(people[1], exchange.scope, exchange.receive, max_bytes=1000) as body:
            assert body.read() == b"x"


@pytest.mark.parametrize("limit", ["UPLOAD_IDLE_SECONDS", "UPLOAD_TIMEOUT_SECONDS"])
async def test_an_upload_that_does_not_arrive_is_ended(monkeypatch, limit):
    monkeypatch.setattr(limits, limit, 0.05)
    exchange = Exchange(path="/files")

    async def never() -> Any:
        await asyncio.Event().wait()

    await make_bridge()(exchange.scope, never, exchange.send)
    assert exchange.status == 408


@pytest.mark.parametrize(
    ("method", "path", "max_bytes"),
    [
        ("POST", "/api/v1/chats/1/files", settings.MAX_FILE_BYTES + limits.MAX_FORM_OVERHEAD),
        ("POST", "/api/v1/workspaces/1/openapi-documents", limits.MAX_DOCUMENT_BODY_BYTES + limits.MAX_FORM_OVERHEAD),
        ("PUT", "/api/v1/chats/1/files", None),
        ("POST", "/api/v1/chats/1/messages", None),
        ("POST", "/openapi-documents", None),
    ],
)
def test_files_and_documents_of_clients_with_a_credential_may_be_large(method, path, max_bytes):
    scope = {"method": method, "path": path, "headers": [(b"authorization", b"Bearer x")]}
    assert find_max_upload_bytes(scope) == max_bytes
    assert find_max_upload_bytes(scope | {"headers": []}) is None
