"""litellm with a provider that does not speak OpenAI's protocol, and the errors of litellm that its adapter corrects."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import pytest

from common.secrets import Secret
from llm import client
from llm.adapters.litellm import LiteLLMAdapter
from llm.client import _ADAPTERS
from llm.messages import Answer, Chunk, ModelRequest, ToolCall, ToolSchema, Turn
from llm.protocol import Endpoint, LLMError, Timeouts
from tests.scripted_model import ScriptedModel

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("litellm_connections")]
ZONE = ToolSchema("current_time", "The time.", {"type": "object", "properties": {"timezone": {"type": "string"}}})
ASK = ModelRequest("claude-sonnet-4-5", [Turn("system", "Be brief."), Turn("user", "Hello")], [ZONE])


class ScriptedLiteLLM(LiteLLMAdapter):
    """Sends its requests to the scripted server. Outside tests, litellm never gets an address."""

    def _build_model_name(self, model: str) -> str:
        return f"anthropic/{model}"

    def _get_provider_parameters(self, key: str) -> dict[str, str]:
        return super()._get_provider_parameters(key) | {"api_base": str(self._endpoint.api_base)}


@pytest.fixture
def scripted(server: ScriptedModel, settings) -> ScriptedModel:
    server.reset()
    settings.ALLOW_PRIVATE_HOSTS = frozenset({server.host})
    return server


def build_adapter(scripted: ScriptedModel, timeouts: Timeouts | None = None) -> LiteLLMAdapter:
    endpoint = Endpoint("anthropic", scripted.url, Secret("canary-key-of-a-tenant"), "workspace")
    return ScriptedLiteLLM(endpoint, timeouts or Timeouts())


async def all_of(llm: LiteLLMAdapter, request: ModelRequest = ASK) -> tuple[list[Chunk], Answer]:
    parts = [part async for part in llm.ask(request)]
    assert isinstance(parts[-1], Answer)
    return [part for part in parts if isinstance(part, Chunk)], parts[-1]


async def failure_of(llm: LiteLLMAdapter, request: ModelRequest = ASK) -> LLMError:
    with pytest.raises(LLMError) as raised:
        await all_of(llm, request)
    return raised.value


async def test_text_and_calls_are_streamed_with_their_usage(scripted: ScriptedModel) -> None:
    calls = [{"name": "current_time", "arguments": f'{{"timezone": "{zone}"}}'} for zone in ("Tokyo", "Paris")]
    scripted.script(tokens=["Let ", "me see."], calls=calls)
    chunks, answer = await all_of(build_adapter(scripted))
    assert [chunk.text for chunk in chunks if chunk.part == "text"] == ["Let ", "me see."]
    assert [chunk.name for chunk in chunks if chunk.name] == ["current_time", "current_time"]
    assert answer.calls == (
        ToolCall("", "current_time", '{"timezone": "Tokyo"}', 0, "toolu_1"),
        ToolCall("", "current_time", '{"timezone": "Paris"}', 1, "toolu_2"),
    )
    assert (answer.finish, answer.usage.input_tokens, answer.usage.output_tokens) == ("tool_calls", 11, 2)


async def test_the_key_and_the_prompt_reach_the_provider(scripted: ScriptedModel) -> None:
    await all_of(build_adapter(scripted))
    (sent,) = scripted.requests
    assert sent.headers["x-api-key"] == "canary-key-of-a-tenant"
    assert sent.body["system"][0]["text"] == "Be brief."


async def test_a_conversation_with_malformed_arguments_can_be_continued(scripted: ScriptedModel) -> None:
    calls = (ToolCall("r:1:0", "no such tool!", '{"timezone": "Asia/To', provider_id="x"),)
    turns = [*ASK.turns, Turn("assistant", "", calls=calls), Turn("tool", "There is no such tool.", call_id="r:1:0")]
    _, answer = await all_of(build_adapter(scripted), ModelRequest(ASK.model, turns, [ZONE]))
    assert answer.finish == "stop"


async def continue_after_a_call(llm: LiteLLMAdapter, model: str) -> Answer:
    """Ask for calls, and ask again with their results. Return the first answer."""
    _, answer = await all_of(llm, ModelRequest(model, ASK.turns, [ZONE]))
    calls = tuple(replace(call, id=f"own:{call.index}") for call in answer.calls)
    assistant = Turn("assistant", answer.text, calls, provider_fields=answer.provider_fields)
    results = [Turn("tool", "Noon.", call_id=call.id) for call in calls]
    await all_of(llm, ModelRequest(model, [*ASK.turns, assistant, *results], [ZONE]))
    return answer


TIME = [{"name": "current_time", "arguments": f'{{"timezone": "{zone}"}}'} for zone in ("Tokyo", "Paris")]


async def test_anthropic_gets_its_signed_thinking_back(scripted: ScriptedModel) -> None:
    scripted.script(text="It is noon.")
    scripted.script(thinking="I need it.", signature="c2lnbmVk", text="I look.", calls=TIME, times=1)
    answer = await continue_after_a_call(build_adapter(scripted), ASK.model)
    assert answer.thinking == "I need it. "
    content = scripted.requests[1].body["messages"][1]["content"]
    assert content[0] == {"type": "thinking", "thinking": "I need it. ", "signature": "c2lnbmVk"}
    assert [part["type"] for part in content] == ["thinking", "text", "tool_use", "tool_use"]
    assert content[2]["id"] == "toolu_2"  # the provider's own id


async def test_anthropic_is_made_to_call_a_tool(scripted: ScriptedModel) -> None:
    scripted.script(calls=TIME[:1])
    await all_of(build_adapter(scripted), replace(ASK, tool_choice="current_time"))
    assert scripted.requests[0].body["tool_choice"] == {"type": "tool", "name": "current_time"}


async def test_gemini_gets_the_signature_of_its_call_back(scripted: ScriptedModel) -> None:
    endpoint = Endpoint("gemini", scripted.url, Secret("k"), "workspace")
    scripted.script(text="It is noon.")
    scripted.script(signature="c2lnbmVk", calls=TIME, times=1)
    await continue_after_a_call(ScriptedGemini(endpoint, Timeouts()), "gemini-3-pro-preview")
    parts = scripted.requests[1].body["contents"][1]["parts"]
    assert [part["thoughtSignature"] for part in parts if "thoughtSignature" in part] == ["c2lnbmVk"]
    assert parts[0]["thoughtSignature"] == "c2lnbmVk"


@pytest.mark.parametrize("mode", ["cut", "cleancut"])
async def test_RUN11_a_stream_without_a_finish_reason_is_an_error(scripted: ScriptedModel, mode: str) -> None:
    scripted.script(mode=mode, tokens=["One ", "two ", "three"], after=2)
    error = await failure_of(build_adapter(scripted))
    assert (error.code, error.partial_text) == ("cut", "One two ")


async def test_broken_json_in_the_stream_is_an_error(scripted: ScriptedModel) -> None:
    scripted.script(mode="badjson", after=2)
    error = await failure_of(build_adapter(scripted))
    assert error.code in ("garbled", "cut", "server")


async def test_RUN10_a_request_to_a_silent_model_ends_at_the_time_limit(scripted: ScriptedModel) -> None:
    scripted.script(mode="stall", after=2)
    error = await failure_of(build_adapter(scripted, Timeouts(idle=1)))
    assert error.code == "timeout_idle"
    await asyncio.to_thread(scripted.wait_until_left)


async def test_RUN16_cancelling_closes_the_connection_to_the_provider_at_once(scripted: ScriptedModel) -> None:
    scripted.script(mode="drip", count=5000, every=0.02)
    started = asyncio.Event()

    async def read() -> None:
        async with aclosing(build_adapter(scripted).ask(ASK)) as parts:
            async for _ in parts:
                started.set()

    task = asyncio.create_task(read())
    await asyncio.wait_for(started.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(scripted.wait_until_left, -1, 1.0)


async def test_RUN20_an_error_status_is_not_retried_and_its_wait_is_in_the_error(scripted: ScriptedModel) -> None:
    scripted.script(mode="status", status=429, retry_after="3")
    error = await failure_of(build_adapter(scripted))
    assert (error.code, error.retryable, error.retry_after) == ("rate_limited", True, 3.0)
    assert len(scripted.requests) == 1


async def test_SEC17_without_a_key_no_request_is_sent(scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    """litellm would use a key of the platform from the environment."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "the-platforms-own-key")
    endpoint = Endpoint("anthropic", scripted.url, Secret(""), "workspace")
    assert (await failure_of(ScriptedLiteLLM(endpoint, Timeouts()))).code == "refused"
    assert scripted.requests == []


async def test_SEC12_litellm_never_gets_an_address_of_a_tenant(scripted: ScriptedModel) -> None:
    endpoint = Endpoint("anthropic", scripted.url, Secret("k"), "workspace")
    assert (await failure_of(LiteLLMAdapter(endpoint, Timeouts()))).code == "host_refused"
    assert scripted.requests == []


class ScriptedGemini(LiteLLMAdapter):
    """Another provider of litellm, with an address of the test."""

    def _build_model_name(self, model: str) -> str:
        return f"gemini/{model}"

    def _get_provider_parameters(self, key: str) -> dict[str, str]:
        return super()._get_provider_parameters(key) | {"api_base": str(self._endpoint.api_base)}


@pytest.mark.parametrize("adapter_class", [ScriptedLiteLLM, ScriptedGemini])
async def test_SEC12_every_address_that_litellm_connects_to_is_checked(
    scripted: ScriptedModel, settings, adapter_class: type[LiteLLMAdapter]
) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset()
    llm = adapter_class(Endpoint("anthropic", scripted.url, Secret("k"), "workspace"), Timeouts())
    assert (await failure_of(llm)).code == "host_refused"
    assert scripted.requests == []


@pytest.mark.parametrize(("provider", "name"), [("anthropic", "ANTHROPIC_BASE_URL"), ("gemini", "GEMINI_API_BASE")])
async def test_SEC17_neither_an_address_nor_a_proxy_in_the_environment_gets_the_key_of_a_tenant(
    scripted: ScriptedModel, settings, monkeypatch: pytest.MonkeyPatch, provider: str, name: str
) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset()
    monkeypatch.setenv(name, scripted.url)
    for proxy in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(proxy, scripted.url)
    error = await failure_of(LiteLLMAdapter(Endpoint(provider, None, Secret("k"), "workspace"), Timeouts()))
    assert error.code == "host_refused"
    assert scripted.requests == []


async def test_SEC13_a_redirect_is_not_followed(scripted: ScriptedModel) -> None:
    scripted.script(mode="redirect", text=f"{scripted.url}/v1/messages")
    error = await failure_of(build_adapter(scripted))
    assert (error.code, error.retryable) == ("host_refused", False)
    assert len(scripted.requests) == 1


async def test_a_request_to_an_unreachable_server_is_not_retried(scripted: ScriptedModel, settings) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset({"127.0.0.1:9"})
    llm = ScriptedLiteLLM(Endpoint("anthropic", "http://127.0.0.1:9", Secret("k"), "workspace"), Timeouts())
    error = await failure_of(llm)
    assert (error.code, error.retryable) == ("unreachable", True)


async def test_a_model_test_through_litellm_returns_whether_the_model_answers(
    scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(_ADAPTERS, "litellm", ScriptedLiteLLM)
    endpoint = Endpoint("anthropic", scripted.url, Secret("k"), "workspace")
    result = await client.test_model(endpoint, "claude-sonnet-4-5")
    assert result.ok, result.message
