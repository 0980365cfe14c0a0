"""Requests to each provider of the table have its address, its format and its key."""

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from common.egress import close_sessions
from common.secrets import Secret
from llm import client
from llm.adapters.litellm import LiteLLMAdapter, _import_litellm
from llm.adapters.openai import OpenAIAdapter, get_target
from llm.messages import Answer, Chunk, ModelRequest, ToolCall, ToolSchema, Turn
from llm.model_list import list_models
from llm.protocol import Endpoint, LLMError, Timeouts
from tests.hostile_web import ConnectionRecorder, FakeDns
from tests.scripted_model import ScriptedModel

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("litellm_connections")]
KEY = "canary-4711-not-an-ordinary-key"
ZONE = ToolSchema("current_time", "The time.", {"type": "object", "properties": {"timezone": {"type": "string"}}})
AZURE = {"api_version": "2024-10-21"}
BEDROCK = {"access_key_id": "AKIAIOSFODNN7EXAMPLE", "region": "eu-central-1"}
MODEL = "anthropic.claude-sonnet-4-5-20250929-v1:0"
LIMITS = Timeouts()


@pytest.fixture
def scripted(server: ScriptedModel, settings) -> ScriptedModel:
    server.reset()
    settings.ALLOW_PRIVATE_HOSTS = frozenset({server.host, f"{server.host}/azure"})
    return server


def request_of(model: str, *, tools: tuple[ToolSchema, ...] = (), **parameters: Any) -> ModelRequest:
    return ModelRequest(model, [Turn("system", "Be brief."), Turn("user", "Hello")], tools, parameters)


async def all_of(llm: Any, request: ModelRequest) -> tuple[list[Chunk], Answer]:
    parts = [part async for part in llm.ask(request)]
    assert isinstance(parts[-1], Answer)
    return parts[:-1], parts[-1]


async def failure_of(llm: Any, request: ModelRequest) -> LLMError:
    with pytest.raises(LLMError) as raised:
        await all_of(llm, request)
    return raised.value


# --- providers that speak the OpenAI protocol at an address of their own ------------------------------------------

FIXED = {
    "openai": "https://api.openai.com/v1/chat/completions",
    "openrouter": "https://openrouter.ai/api/v1/chat/completions",
    "deepseek": "https://api.deepseek.com/v1/chat/completions",
    "mistral": "https://api.mistral.ai/v1/chat/completions",
    "groq": "https://api.groq.com/openai/v1/chat/completions",
    "xai": "https://api.x.ai/v1/chat/completions",
}


@pytest.mark.parametrize(("provider", "url"), FIXED.items())
async def test_requests_go_to_the_address_of_the_provider(
    settings, monkeypatch: pytest.MonkeyPatch, provider: str, url: str
) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset()
    endpoint = Endpoint(provider, None, Secret(KEY), "workspace")
    assert str(get_target(endpoint, "chat/completions").url) == url
    names, connects = FakeDns(monkeypatch), ConnectionRecorder(monkeypatch)
    names.answers = [["127.0.0.1"]]
    assert (await failure_of(OpenAIAdapter(endpoint, LIMITS), request_of("m"))).code == "host_refused"
    assert connects.seen == []
    await close_sessions()  # removes the resolved addresses


@pytest.mark.parametrize("provider", FIXED)
async def test_answers_are_streamed_with_calls_and_usage(scripted: ScriptedModel, provider: str) -> None:
    scripted.script(tokens=["Let ", "me see."], calls=[{"name": "current_time", "arguments": '{"timezone": "Tokyo"}'}])
    llm = OpenAIAdapter(Endpoint(provider, scripted.api_base, Secret(KEY), "workspace"), LIMITS)
    chunks, answer = await all_of(llm, request_of("m", tools=(ZONE,), max_tokens=7))
    assert "".join(chunk.text for chunk in chunks if chunk.part == "arguments") == '{"timezone": "Tokyo"}'
    assert answer.calls == (ToolCall("", "current_time", '{"timezone": "Tokyo"}', 0, "call_0"),)
    assert (answer.finish, answer.usage.input_tokens) == ("tool_calls", 11)
    [sent] = scripted.requests
    assert sent.headers["Authorization"] == f"Bearer {KEY}"
    limit = "max_completion_tokens" if provider == "openai" else "max_tokens"
    assert sent.body[limit] == 7


# --- Azure OpenAI -------------------------------------------------------------------------------------------------


def azure(scripted: ScriptedModel, **more: Any) -> Endpoint:
    facts: dict[str, Any] = {"api_base": f"{scripted.url}/azure", "key": Secret(KEY), "options": AZURE} | more
    return Endpoint(provider="azure", paid_by="workspace", **facts)


async def test_requests_to_azure_have_a_deployment_an_api_version_and_the_key_header(scripted: ScriptedModel) -> None:
    scripted.script(tokens=["Hel", "lo"])
    chunks, answer = await all_of(OpenAIAdapter(azure(scripted), LIMITS), request_of("my-gpt", max_tokens=5))
    assert ([chunk.text for chunk in chunks], answer.text, answer.usage.output_tokens) == (["Hel", "lo"], "Hello", 2)
    [sent] = scripted.requests
    assert sent.target == "/azure/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"
    assert sent.headers["api-key"] == KEY
    assert "Authorization" not in sent.headers
    assert sent.body["max_completion_tokens"] == 5


@pytest.mark.parametrize("model", ["../../v1", "a/b", "..", "a?b", "a#b", "a%2fb", "", "{model}"])
async def test_SEC12_the_name_of_a_deployment_cannot_be_a_path(scripted: ScriptedModel, model: str) -> None:
    assert (await failure_of(OpenAIAdapter(azure(scripted), LIMITS), request_of(model))).code == "bad_request"
    assert scripted.requests == []


async def test_SEC12_a_private_address_for_azure_is_refused(scripted: ScriptedModel, settings) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset()
    assert (await failure_of(OpenAIAdapter(azure(scripted), LIMITS), request_of("gpt"))).code == "host_refused"
    assert scripted.requests == []


async def test_azure_lists_no_models(scripted: ScriptedModel) -> None:
    with pytest.raises(LLMError) as error:
        await list_models(azure(scripted))
    assert error.value.code == "not_found"
    assert scripted.requests == []


async def test_azure_answers_a_test_of_the_model(scripted: ScriptedModel) -> None:
    assert (await client.test_model(azure(scripted), "gpt")).ok


# --- Amazon Bedrock -----------------------------------------------------------------------------------------------


class BedrockAtTheScript(LiteLLMAdapter):
    """Sends its requests to the scripted server. Outside tests, the address follows from the region."""

    url = ""

    def _get_provider_parameters(self, key: str) -> dict[str, str]:
        return super()._get_provider_parameters(key) | {"aws_bedrock_runtime_endpoint": self.url}


def bedrock(scripted: ScriptedModel, timeouts: Timeouts = LIMITS, **more: Any) -> LiteLLMAdapter:
    facts: dict[str, Any] = {"key": Secret(KEY), "options": BEDROCK} | more
    llm = BedrockAtTheScript(Endpoint(provider="bedrock", api_base=None, paid_by="workspace", **facts), timeouts)
    llm.url = scripted.url
    return llm


async def test_bedrock_streams_text_and_calls_with_their_usage(scripted: ScriptedModel) -> None:
    scripted.script(tokens=["Let ", "me see."], calls=[{"name": "current_time", "arguments": '{"timezone": "Tokyo"}'}])
    chunks, answer = await all_of(bedrock(scripted), request_of(MODEL, tools=(ZONE,)))
    assert [chunk.text for chunk in chunks if chunk.part == "text"] == ["Let ", "me see."]
    assert answer.calls == (ToolCall("", "current_time", '{"timezone": "Tokyo"}', 0, "tooluse_1"),)
    assert (answer.finish, answer.usage.input_tokens, answer.usage.estimated) == ("tool_calls", 11, False)
    [sent] = scripted.requests
    assert sent.body["system"] == [{"text": "Be brief."}]
    assert KEY not in json.dumps([sent.headers, sent.body])


async def test_the_signature_of_bedrock_matches_the_request(scripted: ScriptedModel) -> None:
    """The path must arrive as it was signed: its colon stays encoded."""
    await all_of(bedrock(scripted), request_of(MODEL))
    [sent] = scripted.requests
    assert sent.target == f"/model/{MODEL.replace(':', '%3A')}/converse-stream"
    signer = SigV4Auth(Credentials(BEDROCK["access_key_id"], KEY), "bedrock", BEDROCK["region"])
    authorization = sent.headers["Authorization"]
    names = authorization.partition("SignedHeaders=")[2].partition(",")[0].split(";")
    headers = {name: value for name, value in sent.headers.items() if name.lower() in names}
    request = AWSRequest("POST", f"{scripted.url}{sent.target}", headers, json.dumps(sent.body))
    request.context["timestamp"] = {name.lower(): text for name, text in sent.headers.items()}["x-amz-date"]
    signature = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    assert authorization.endswith(f"Signature={signature}")


async def test_SEC17_no_credentials_of_the_process_sign_requests_of_a_tenant(
    scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_BEARER_TOKEN_BEDROCK", "AWS_SESSION_TOKEN", "AWS_ROLE_NAME", "AWS_PROFILE_NAME"):
        monkeypatch.setenv(name, "the-platforms-own")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "PLATFORMSOWNKEYID")
    monkeypatch.setenv("AWS_BEDROCK_RUNTIME_ENDPOINT", "http://127.0.0.1:9")
    _import_litellm.cache_clear()  # as when the process first needs it
    await all_of(bedrock(scripted), request_of(MODEL))
    [sent] = scripted.requests
    assert sent.headers["Authorization"].startswith(f"AWS4-HMAC-SHA256 Credential={BEDROCK['access_key_id']}/")
    assert "platforms" not in json.dumps(sent.headers).lower()


async def test_requests_to_bedrock_go_to_its_region_only(settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset()
    names, connects = FakeDns(monkeypatch), ConnectionRecorder(monkeypatch)
    names.answers = [["127.0.0.1"]]
    llm = LiteLLMAdapter(Endpoint("bedrock", None, Secret(KEY), "workspace", BEDROCK), LIMITS)
    assert (
        llm._get_provider_parameters(KEY)["aws_bedrock_runtime_endpoint"]
        == "https://bedrock-runtime.eu-central-1.amazonaws.com"
    )
    assert (await failure_of(llm, request_of(MODEL))).code == "host_refused"
    assert connects.seen == []
    await close_sessions()


@pytest.mark.parametrize(
    "region", ["", "eu-central-1.evil.example/", "evil.example#", "169.254.169.254", "EU-CENTRAL-1"]
)
async def test_SEC12_a_region_cannot_be_a_host(scripted: ScriptedModel, region: str) -> None:
    llm = bedrock(scripted, options=BEDROCK | {"region": region})
    assert (await failure_of(llm, request_of(MODEL))).code == "bad_request"
    assert scripted.requests == []


@pytest.mark.parametrize("model", ["invoke/x", "agentcore/arn:aws:x", "../x", "us-west-2/x", "mantle/x", "a b", ""])
async def test_SEC12_the_name_of_a_model_cannot_change_the_address(scripted: ScriptedModel, model: str) -> None:
    assert (await failure_of(bedrock(scripted), request_of(model))).code == "bad_request"
    assert scripted.requests == []


@pytest.mark.parametrize("mode", ["cut", "cleancut"])
async def test_RUN11_a_stream_of_bedrock_without_a_finish_reason_is_an_error(
    scripted: ScriptedModel, mode: str
) -> None:
    scripted.script(mode=mode, tokens=["One ", "two ", "three"], after=2)
    error = await failure_of(bedrock(scripted), request_of(MODEL))
    assert (error.code, error.partial_text) == ("cut", "One two ")


async def test_RUN10_a_request_to_a_silent_bedrock_ends_at_the_time_limit(scripted: ScriptedModel) -> None:
    scripted.script(mode="stall", after=2)
    error = await failure_of(bedrock(scripted, Timeouts(idle=1)), request_of(MODEL))
    assert error.code == "timeout_idle"
    await asyncio.to_thread(scripted.wait_until_left)


async def test_RUN16_closing_a_stream_of_bedrock_closes_the_connection(scripted: ScriptedModel) -> None:
    scripted.script(mode="drip", count=5000, every=0.02)
    async with aclosing(bedrock(scripted, Timeouts()).ask(request_of(MODEL))) as parts:
        await anext(parts)
    await asyncio.to_thread(scripted.wait_until_left, -1, 1.0)


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [(400, "bad_request", False), (403, "refused", False), (429, "rate_limited", True), (503, "server", True)],
)
async def test_RUN20_an_error_status_of_bedrock_is_not_retried(
    scripted: ScriptedModel, status: int, code: str, retryable: bool
) -> None:
    scripted.script(mode="status", status=status, error=f"No: {KEY}")
    error = await failure_of(bedrock(scripted), request_of(MODEL))
    assert (error.code, error.retryable) == (code, retryable)
    assert KEY not in error.message
    assert len(scripted.requests) == 1
