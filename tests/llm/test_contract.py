"""The behaviour of all adapters, against a scripted server: the same tests for the OpenAI adapter and for litellm."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

import pytest
import pytest_asyncio

from common.egress import close_sessions
from common.secrets import Secret
from llm.adapters.litellm import LiteLLMAdapter, _import_litellm
from llm.adapters.openai import OpenAIAdapter
from llm.messages import Answer, Chunk, ModelRequest, ToolCall, ToolSchema, Turn
from llm.protocol import LLM, Endpoint, LLMError, Timeouts
from tests.scripted_model import ScriptedModel

# litellm keeps connections per event loop: all tests share one, and close its connections.
pytestmark = pytest.mark.asyncio(loop_scope="module")
KEY = "canary-4711-not-an-ordinary-key"
ZONE = ToolSchema(
    "current_time",
    "The time somewhere.",
    {"type": "object", "properties": {"timezone": {"type": "string"}}, "required": ["timezone"]},
)

Make = Callable[..., LLM]


class LiteLLMAtTheScript(LiteLLMAdapter):
    """litellm with a provider of OpenAI's format at the scripted server. Outside tests, litellm never gets an address."""

    def _build_model_name(self, model: str) -> str:
        return f"deepseek/{model}"

    def _get_provider_parameters(self, key: str) -> dict[str, str]:
        return super()._get_provider_parameters(key) | {"api_base": str(self._endpoint.api_base)}


class AzureAtTheScript(OpenAIAdapter):
    """The OpenAI adapter with the requests of Azure OpenAI."""


@pytest.fixture
def scripted(server: ScriptedModel, settings) -> ScriptedModel:
    server.reset()
    settings.ALLOW_PRIVATE_HOSTS = frozenset({server.host, f"{server.host}/azure"})
    return server


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="module",
    params=[OpenAIAdapter, AzureAtTheScript, LiteLLMAtTheScript],
    ids=["direct", "azure", "litellm"],
)
async def adapter_class(request: pytest.FixtureRequest, server: ScriptedModel) -> AsyncIterator[type[LLM]]:
    """The kind of adapter. litellm is imported first, because that takes longer than the tested limits."""
    if request.param is LiteLLMAtTheScript:
        endpoint = Endpoint("deepseek", server.api_base, Secret(KEY), "system")
        server.reset()  # remove the script of the previous test
        await all_of(LiteLLMAtTheScript(endpoint, Timeouts()), request_of())
    yield request.param
    if request.param is LiteLLMAtTheScript:
        await _import_litellm().close_litellm_async_clients()
    await close_sessions()


@pytest.fixture
def make(adapter_class: Callable[..., LLM], scripted: ScriptedModel) -> Make:
    """Return a function that makes such an adapter for the scripted server."""
    if adapter_class is AzureAtTheScript:
        address, options = f"{scripted.url}/azure", {"api_version": "2024-10-21"}
        endpoint = Endpoint("azure", address, Secret(KEY), "workspace", options)
    else:
        endpoint = Endpoint("deepseek", scripted.api_base, Secret(KEY), "workspace")
    return lambda timeouts=None: adapter_class(endpoint, timeouts or Timeouts())


def request_of(text: str = "Hello", *, prompt: str = "Be brief.", **more: Any) -> ModelRequest:
    return ModelRequest("scripted", [Turn("system", prompt), Turn("user", text)], **more)


async def all_of(llm: LLM, request: ModelRequest) -> tuple[list[Chunk], Answer]:
    parts = [part async for part in llm.ask(request)]
    assert isinstance(parts[-1], Answer)
    return [part for part in parts[:-1] if isinstance(part, Chunk)], parts[-1]


async def failure_of(llm: LLM, request: ModelRequest) -> tuple[list[Chunk], LLMError]:
    chunks: list[Chunk] = []
    try:
        async for part in llm.ask(request):
            assert isinstance(part, Chunk), "an answer came where none may"
            chunks.append(part)
    except LLMError as error:
        return chunks, error
    pytest.fail("no error came")


async def test_text_is_streamed_in_chunks_that_add_up_to_the_answer(make: Make, scripted: ScriptedModel) -> None:
    scripted.script(tokens=["Hel", "lo ", "東京", "\n", "there"])
    chunks, answer = await all_of(make(), request_of())
    assert [chunk.text for chunk in chunks] == ["Hel", "lo ", "東京", "\n", "there"]
    assert {chunk.part for chunk in chunks} == {"text"}
    assert (answer.text, answer.finish, answer.calls) == ("Hello 東京\nthere", "stop", ())
    assert (answer.usage.input_tokens, answer.usage.output_tokens, answer.usage.estimated) == (11, 5, False)
    assert answer.first_token_s is not None
    assert 0 < answer.first_token_s <= answer.seconds


async def test_thinking_is_streamed_separately_from_the_text(make: Make, scripted: ScriptedModel) -> None:
    scripted.script(mode="think", thinking="First this.", text="Then that.")
    chunks, answer = await all_of(make(), request_of())
    assert [chunk.part for chunk in chunks] == ["thinking", "thinking", "text", "text"]
    assert (answer.thinking, answer.text) == ("First this. ", "Then that.")


async def test_the_prompt_the_tools_and_the_key_reach_the_server(make: Make, scripted: ScriptedModel) -> None:
    turns = [
        Turn("system", "Be brief."),
        Turn("user", "What time is it?"),
        Turn("assistant", "", calls=(ToolCall("run:1:0", "current_time", '{"timezone": "Asia/Tokyo"}'),)),
        Turn("tool", "12:00", call_id="run:1:0"),
    ]
    request = ModelRequest("scripted", turns, tools=[ZONE], parameters={"temperature": 0.5})
    await all_of(make(), request)
    sent = scripted.requests[0]
    assert KEY in (sent.headers.get("api-key"), sent.headers.get("Authorization", "").removeprefix("Bearer "))
    assert sent.body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert sent.body["messages"][2]["tool_calls"][0]["function"]["arguments"] == '{"timezone": "Asia/Tokyo"}'
    assert sent.body["messages"][3]["tool_call_id"] == sent.body["messages"][2]["tool_calls"][0]["id"]
    assert sent.body["tools"][0]["function"]["name"] == "current_time"
    assert (sent.body["model"], sent.body["temperature"], sent.body["stream"]) == ("scripted", 0.5, True)


async def test_a_model_can_be_made_to_call_a_tool(make: Make, scripted: ScriptedModel) -> None:
    await all_of(make(), request_of(tools=[ZONE], tool_choice=ZONE.name))
    assert scripted.requests[0].body["tool_choice"] == {"type": "function", "function": {"name": "current_time"}}
    await all_of(make(), request_of(parameters={"tool_choice": "required", "response_format": "x"}))
    assert scripted.requests[1].body.keys() & {"tool_choice", "response_format"} == set()


async def test_the_arguments_of_a_call_are_streamed_after_its_name(make: Make) -> None:
    chunks, answer = await all_of(make(), request_of("What time is it in Tokyo?", tools=[ZONE]))
    assert {chunk.part for chunk in chunks} == {"arguments"}
    assert len(chunks) > 2
    assert [chunk.name for chunk in chunks if chunk.name] == ["current_time"]
    assert "".join(chunk.text for chunk in chunks) == '{"timezone": "Asia/Tokyo"}'
    assert answer.finish == "tool_calls"
    assert answer.calls == (ToolCall("", "current_time", '{"timezone": "Asia/Tokyo"}', 0, "call_0"),)


@pytest.mark.parametrize("bad", ["parallel", "duplicate_ids", "empty_ids"])
async def test_RUN12_parallel_calls_are_distinguished_whatever_their_ids(
    make: Make, scripted: ScriptedModel, bad: str
) -> None:
    scripted.script(mode="badtool", bad=bad)
    _, answer = await all_of(make(), request_of(tools=[ZONE]))
    assert [json.loads(call.arguments)["timezone"] for call in answer.calls] == ["Asia/Tokyo", "Europe/Paris"]
    assert [call.index for call in answer.calls] == [0, 1]


@pytest.mark.parametrize(
    ("bad", "arguments"),
    [
        ("truncated", '{"timezone": "Asia/To'),
        ("doubled", "{}{}"),
        ("trailing", '{"timezone": "Asia/Tokyo"}<|call|>'),
        ("wrong_types", '{"timezone": 7}'),
        ("empty", ""),
        ("unknown_tool", "{}"),
    ],
)
async def test_RUN12_malformed_arguments_are_not_changed(
    make: Make, scripted: ScriptedModel, bad: str, arguments: str
) -> None:
    scripted.script(mode="badtool", bad=bad)
    _, answer = await all_of(make(), request_of(tools=[ZONE]))
    assert [call.arguments for call in answer.calls] == [arguments]


async def test_RUN12_a_megabyte_of_arguments_is_accepted(make: Make, scripted: ScriptedModel) -> None:
    scripted.script(mode="badtool", bad="huge")
    _, answer = await all_of(make(), request_of(tools=[ZONE]))
    assert len(answer.calls[0].arguments) > 1_000_000


@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_an_answer_that_was_cut_or_filtered_has_that_finish_reason(
    make: Make, scripted: ScriptedModel, finish: str
) -> None:
    scripted.script(text="As far as", finish=finish)
    _, answer = await all_of(make(), request_of())
    assert answer.finish == finish


@pytest.mark.parametrize("mode", ["cut", "cleancut"])
async def test_RUN11_a_stream_without_a_finish_reason_is_an_error(
    make: Make, scripted: ScriptedModel, mode: str
) -> None:
    scripted.script(mode=mode, tokens=["One ", "two ", "three ", "four"], after=3)
    chunks, error = await failure_of(make(), request_of())
    assert error.code == "cut"
    assert error.partial_text == "".join(chunk.text for chunk in chunks)
    assert "One two three four" not in error.partial_text


async def test_RUN11_an_end_before_the_first_chunk_is_an_error(make: Make, scripted: ScriptedModel) -> None:
    scripted.script(mode="cleancut", after=0)
    chunks, error = await failure_of(make(), request_of())
    assert (chunks, error.code, error.retryable) == ([], "cut", True)


async def test_broken_json_in_the_stream_is_an_error(scripted: ScriptedModel) -> None:
    # litellm drops such a line in this format, but not in the formats that it is used for (test_litellm.py).
    scripted.script(mode="badjson", after=2)
    endpoint = Endpoint("openai_compatible", scripted.api_base, Secret(KEY), "workspace")
    _, error = await failure_of(OpenAIAdapter(endpoint, Timeouts()), request_of())
    assert error.code in ("garbled", "cut", "server")
    assert error.partial_text.startswith("w0")


async def test_an_error_in_the_stream_is_an_error(make: Make, scripted: ScriptedModel) -> None:
    scripted.script(mode="errframe", after=2, status=503)
    _, error = await failure_of(make(), request_of())
    assert error.code == "server"
    assert error.partial_text.startswith("w0")


@pytest.mark.parametrize(
    ("status", "code", "retryable"),
    [
        (400, "bad_request", False),
        (401, "refused", False),
        (403, "refused", False),
        (404, "not_found", False),
        (429, "rate_limited", True),
        (500, "server", True),
        (503, "server", True),
        (529, "server", True),
    ],
)
async def test_RUN20_an_error_status_has_its_code_and_adapters_do_not_retry(
    make: Make, scripted: ScriptedModel, status: int, code: str, retryable: bool
) -> None:
    scripted.script(mode="status", status=status)
    _, error = await failure_of(make(), request_of())
    assert (error.code, error.retryable) == (code, retryable)
    assert len(scripted.requests) == 1


async def test_RUN20_the_wait_of_the_provider_is_in_the_error(make: Make, scripted: ScriptedModel) -> None:
    scripted.script(mode="status", status=429, retry_after="7")
    _, error = await failure_of(make(), request_of())
    assert error.retry_after == 7.0


@pytest.mark.parametrize("mode", ["status", "errframe"])
async def test_SEC17_the_key_is_removed_from_errors(make: Make, scripted: ScriptedModel, mode: str) -> None:
    scripted.script(mode=mode, status=401, echo_key=True, after=0, error="Bad key sk-abcdefghijklmnop " + "x" * 2000)
    _, error = await failure_of(make(), request_of())
    assert KEY not in error.message
    assert "sk-abcdefgh" not in error.message
    assert len(error.message) <= 500


@pytest.mark.parametrize(
    ("script", "timeouts", "code", "chunks"),
    [
        ({"mode": "nofirst"}, Timeouts(first=0.5), "timeout_first", 0),
        ({"first": 30}, Timeouts(first=0.5), "timeout_first", 0),
        ({"mode": "stall", "after": 2}, Timeouts(idle=1), "timeout_idle", 2),
        ({"mode": "slowdrip"}, Timeouts(idle=1), "timeout_idle", 1),
    ],
    ids=["nofirst", "first", "stall", "slowdrip"],
)
async def test_RUN10_a_request_to_a_silent_model_ends_at_the_time_limit(
    make: Make, scripted: ScriptedModel, script: dict, timeouts: Timeouts, code: str, chunks: int
) -> None:
    scripted.script(**script)
    shown, error = await failure_of(make(timeouts), request_of())
    assert (error.code, len(shown)) == (code, chunks)
    await asyncio.to_thread(scripted.wait_until_left)


async def test_RUN10_an_endless_answer_ends_at_the_time_limit(make: Make, scripted: ScriptedModel) -> None:
    scripted.script(mode="drip", count=10_000, every=0.02)
    shown, error = await failure_of(make(Timeouts(first=60, idle=60, total=2)), request_of())
    assert (error.code, error.retryable) == ("timeout_total", False)
    assert len(shown) > 3
    await asyncio.to_thread(scripted.wait_until_left)


async def test_RUN10_the_time_of_a_slow_reader_does_not_count(make: Make, scripted: ScriptedModel) -> None:
    scripted.script(tokens=["a", "b", "c"], every=0.1)
    texts = []
    async for part in make(Timeouts(first=60, idle=1, total=60)).ask(request_of()):
        texts.append(part.text)
        if texts == ["a"]:
            await asyncio.sleep(1.5)
    assert texts == ["a", "b", "c", "abc"]


async def test_RUN16_cancelling_closes_the_connection_to_the_provider_at_once(
    make: Make, scripted: ScriptedModel
) -> None:
    scripted.script(mode="drip", every=0.02, count=5000)
    llm = make()
    started = asyncio.Event()

    async def read() -> None:
        async with aclosing(llm.ask(request_of())) as parts:
            async for _ in parts:
                started.set()

    task = asyncio.create_task(read())
    await asyncio.wait_for(started.wait(), 20)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(scripted.wait_until_left)


async def test_RUN16_cancelling_before_the_first_chunk_closes_the_connection(
    make: Make, scripted: ScriptedModel
) -> None:
    scripted.script(mode="nofirst")
    task = asyncio.create_task(all_of(make(), request_of()))
    while not scripted.requests:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.to_thread(scripted.wait_until_left)


async def test_RUN16_closing_the_generator_closes_the_connection(make: Make, scripted: ScriptedModel) -> None:
    scripted.script(mode="stall", after=1)
    async with aclosing(make().ask(request_of())) as parts:
        await anext(parts)
    await asyncio.to_thread(scripted.wait_until_left)


async def test_usage_is_estimated_if_the_server_reports_none(make: Make, scripted: ScriptedModel) -> None:
    scripted.script(text="Four words are here.", usage=False)
    _, answer = await all_of(make(), request_of())
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens > 0
