"""The merge service of the operator: a signed request, and its JSON answer as the answer of the job."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

import pytest

from common.egress import close_sessions
from llm.adapters import service as service_adapter
from llm.adapters.service import build_service_request
from llm.client import get_model
from llm.endpoints import get_merge_service
from llm.messages import Answer, ModelRequest, Turn
from llm.protocol import LLMError
from llm.retry import _breakers
from suggestions.run_kinds import MERGE, SUMMARY
from tests.runs.job_environment import JobEnvironment
from usage.models import LLMCall

KEY = b"a key of twenty-four byt"
SECRET = "whsec_" + base64.b64encode(KEY).decode()
SEGMENTS = {"segments": [{"text": "Be brief.\n", "from": ["s1"]}], "conflicts": []}


class MergeService:
    """A service that checks the signature by the specification, and answers with `status` and `body` after `pause`."""

    def __init__(self) -> None:
        self.status, self.body, self.pause = 200, json.dumps(SEGMENTS).encode(), 0.0
        self.headers: dict[str, str] = {}
        self.asked: list[dict[str, Any]] = []
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                sent = service.take(dict(self.headers.items()), body)
                time.sleep(service.pause)
                self.send_response(sent)
                for name, value in service.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(service.body)

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/merge"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, headers: dict[str, str], body: bytes) -> int:
        """Return the status of the answer; 401 for a wrong signature."""
        sent = {name.lower(): value for name, value in headers.items()}
        self.asked.append(json.loads(body) | {"headers": sent})
        signed_text = b".".join([sent["webhook-id"].encode(), sent["webhook-timestamp"].encode(), body])
        expected = base64.b64encode(hmac.new(KEY, signed_text, hashlib.sha256).digest()).decode()
        is_fresh = abs(time.time() - int(sent["webhook-timestamp"])) < 60
        return self.status if sent["webhook-signature"] == f"v1,{expected}" and is_fresh else 401

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def service(settings: Any) -> Iterator[MergeService]:
    _breakers.clear()
    service = MergeService()
    settings.MERGE_SERVICE = {"url": service.url, "secret": SECRET}
    yield service
    service.close()


async def ask(body: str = build_service_request(uuid4(), "merge", {"production": "Be kind.\n"})) -> Answer:
    endpoint = get_merge_service()
    assert endpoint is not None
    try:
        parts = [part async for part in get_model(endpoint).ask(ModelRequest("merge service", [Turn("user", body)]))]
    finally:
        await close_sessions()
    assert isinstance(parts[-1], Answer)
    return parts[-1]


async def test_the_service_gets_a_signed_request_and_answers_json(service: MergeService) -> None:
    id = uuid4()
    answer = await ask(build_service_request(id, "merge", {"production": "你好。\n"}))
    assert json.loads(answer.text) == SEGMENTS
    assert (answer.usage.cost_micro, answer.finish) == (0, "stop")
    [asked] = service.asked
    assert (asked["id"], asked["type"], asked["input"]) == (str(id), "merge", {"production": "你好。\n"})
    assert asked["headers"]["webhook-id"] == f"msg_{id}"


async def test_a_wrong_secret_is_refused_and_not_retried(service: MergeService, settings: Any) -> None:
    settings.MERGE_SERVICE["secret"] = base64.b64encode(b"another").decode()
    with pytest.raises(LLMError) as raised:
        await ask()
    assert (raised.value.code, raised.value.tries) == ("refused", 1)
    assert "another" not in raised.value.message


async def test_a_request_to_an_overloaded_service_is_retried_with_the_same_id(service: MergeService) -> None:
    service.status, service.headers = 503, {"Retry-After": "0"}
    with pytest.raises(LLMError) as raised:
        await ask()
    assert (raised.value.code, raised.value.tries) == ("server", 3)
    assert len({asked["headers"]["webhook-id"] for asked in service.asked}) == 1


@pytest.mark.parametrize(
    ("body", "reason"), [(b"<html>", "no JSON"), (b"\xff", "no JSON"), (b'"' + b"x" * 3_000_000 + b'"', "too large")]
)
async def test_an_invalid_answer_is_an_error(service: MergeService, body: bytes, reason: str) -> None:
    service.body = body
    with pytest.raises(LLMError, match=reason) as raised:
        await ask()
    assert (raised.value.code, len(service.asked)) == ("garbled", 1)


async def test_the_service_has_a_time_limit(service: MergeService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_adapter, "MAX_REQUEST_SECONDS", 0.2)
    service.pause = 1.0
    with pytest.raises(LLMError) as raised:
        await ask()
    assert (raised.value.code, raised.value.retryable) == ("timeout_total", False)


async def test_redirects_of_the_service_are_not_followed(service: MergeService) -> None:
    service.status, service.headers = 307, {"Location": "http://127.0.0.1:1/"}
    with pytest.raises(LLMError) as raised:
        await ask()
    assert raised.value.code == "host_refused"


async def test_an_unreachable_service_is_an_error(service: MergeService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llm.retry.BASE_DELAY_SECONDS", 0.01)
    service.close()
    with pytest.raises(LLMError) as raised:
        await ask()
    assert (raised.value.code, raised.value.tries) == ("unreachable", 4)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_a_merge_uses_the_service_and_a_summary_the_model(service: MergeService, environment: Any) -> None:
    job_environment = JobEnvironment(environment)
    merge = job_environment.wait_for(job_environment.start(MERGE))
    assert (merge.state, json.loads(merge.answer)) == ("completed", SEGMENTS)
    assert merge.stamp is not None
    assert merge.stamp["provider"] == "merge_service"
    assert service.asked[0]["input"] == {"texts": ["a"]}
    call = LLMCall.objects.get()
    assert (call.provider, call.model, call.cost_micro, call.paid_by) == ("merge_service", "merge service", 0, "system")
    assert not environment.model.requests
    job_environment.wait_for(job_environment.start(SUMMARY))
    assert (len(service.asked), len(environment.model.requests)) == (1, 1)
