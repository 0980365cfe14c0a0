"""Build the model of an endpoint, with the adapter of its provider, and test a model."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from django.conf import settings

from common.egress import is_private_server
from common.providers import get_provider
from llm.adapters.litellm import LiteLLMAdapter
from llm.adapters.openai import OpenAIAdapter
from llm.adapters.service import MergeServiceAdapter
from llm.demo.model import DemoModel
from llm.errors import NO_TOOLS
from llm.messages import Answer, ModelRequest, ToolSchema, Turn, Usage
from llm.prices import estimate_usage
from llm.protocol import LLM, Endpoint, LLMError, ModelTestResult, Timeouts
from llm.retry import Announce, Check, RetryingModel, get_breaker

_ADAPTERS: dict[str, Callable[[Endpoint, Timeouts], LLM]] = {"openai": OpenAIAdapter, "litellm": LiteLLMAdapter}

PRIVATE_TIMEOUTS = Timeouts(first=300.0, idle=120.0, total=1800.0)
"""The usual limits for servers on private addresses: they may read a prompt slowly, and have a queue of their own."""
TEST_SECONDS = 20.0
MAX_TEST_IDLE_SECONDS = 8.0
"""Seconds without a chunk, in the middle of an answer, after which a test fails."""
ENOUGH_CHUNKS = 8
"""Chunks of text after which a test succeeds without waiting for the end of the answer."""
EMPTY_ANSWER_MESSAGE = "The model answered, but without a word."


def get_model(
    endpoint: Endpoint,
    timeouts: Timeouts | None = None,
    *,
    tenant: str = "",
    announce: Announce | None = None,
    check: Check | None = None,
) -> LLM:
    """Return the model of an endpoint, with retries. `timeouts` null: those of the settings.

    Repeated failures pause the model only for the `tenant` (a workspace) whose requests failed, even if others use the same key.
    `announce` is called before a long wait for a retry, and `check` before each request, which it can refuse.
    """
    llm = _build_adapter(endpoint, timeouts or get_timeouts(endpoint))
    if isinstance(llm, DemoModel):
        return llm
    # The hash of the key: the breakers do not store the key itself.
    find_breaker = partial(
        get_breaker,
        tenant,
        endpoint.provider,
        endpoint.api_base or "",
        str(sorted(endpoint.options.items())),
        str(hash(endpoint.key)),
    )
    return RetryingModel(
        llm, find_breaker, announce=announce, check=check, repeats_slow_requests=not _is_private(endpoint)
    )


def _build_adapter(endpoint: Endpoint, timeouts: Timeouts) -> LLM:
    if endpoint.provider == "merge_service":
        return MergeServiceAdapter(endpoint, timeouts)
    adapter = get_provider(endpoint.provider).adapter
    return DemoModel() if adapter == "demo" else _ADAPTERS[adapter](endpoint, timeouts)


def get_timeouts(endpoint: Endpoint) -> Timeouts:
    """Return the time limits of requests to this endpoint: those of the installation, else the usual ones of its kind of server."""
    usual = PRIVATE_TIMEOUTS if _is_private(endpoint) else Timeouts()
    return Timeouts(
        settings.LLM_FIRST_TOKEN_TIMEOUT or usual.first,
        settings.LLM_IDLE_TIMEOUT or usual.idle,
        settings.LLM_TOTAL_TIMEOUT or usual.total,
    )


def _is_private(endpoint: Endpoint) -> bool:
    return bool(endpoint.api_base) and is_private_server(endpoint.api_base or "")


def build_test_request(model: str, *, with_tool: bool = True) -> ModelRequest:
    """Return the request of a model test, with enough tokens for a model that thinks before it writes. `with_tool`: it offers a
    tool, because some models refuse every request with tools."""
    tools = [ToolSchema("current_time", "Return the current time.", {"type": "object"})] if with_tool else []
    return ModelRequest(model, [Turn("user", "Say OK.")], tools, parameters={"max_tokens": 512})


async def test_model(
    endpoint: Endpoint,
    model: str,
    *,
    seconds: float = TEST_SECONDS,  # noqa: PT028
) -> ModelTestResult:
    """Send one short question and wait for a complete or a long enough answer. Errors of the model are in the result.

    A model that refuses tools is asked again without one: then it is `ok`, with the code `no_tools`.
    An answer with two chunks of text or more is a success even if it is not complete after `seconds`. `finish` is "left" if the
    answer was not read to its end.
    """
    started = asyncio.get_running_loop().time()
    limits = Timeouts(first=seconds, idle=min(MAX_TEST_IDLE_SECONDS, seconds), total=seconds)
    llm = _build_adapter(endpoint, limits)
    request = build_test_request(model)
    result = await _ask_test_question(llm, endpoint, request, started)
    if result.code != "no_tools":
        return result
    without = await _ask_test_question(llm, endpoint, build_test_request(model, with_tool=False), started)
    return replace(without, code="no_tools", message=NO_TOOLS) if without.ok else without


async def _ask_test_question(llm: LLM, endpoint: Endpoint, request: ModelRequest, started: float) -> ModelTestResult:
    loop = asyncio.get_running_loop()
    first, text_chunks, received = None, 0, ""
    result = ModelTestResult(True, "", 0.0, finish="left")
    usage = None
    try:
        async with aclosing(llm.ask(request)) as parts:
            async for part in parts:
                first = loop.time() - started if first is None else first
                if isinstance(part, Answer):
                    result, usage = _build_result(part), part.usage
                    break
                received += part.text
                text_chunks += part.part == "text" and bool(part.text.strip())
                if text_chunks >= ENOUGH_CHUNKS:
                    break
    except LLMError as error:
        usage = error.usage or Usage()
        is_slow = error.code == "timeout_total" and text_chunks > 1
        if not is_slow:
            result, first = ModelTestResult(False, error.message, 0.0, error.code), loop.time() - started
    usage = usage or estimate_usage(endpoint, request, received)
    return replace(result, seconds=first or 0.0, total=loop.time() - started, usage=usage)


def _build_result(answer: Answer) -> ModelTestResult:
    """Return the result of a complete answer: a failure when it has neither text nor calls, unless thinking has used up
    `max_tokens`."""
    is_empty = not (answer.text.strip() or answer.calls or (answer.finish == "length" and answer.thinking))
    if is_empty:
        return ModelTestResult(False, EMPTY_ANSWER_MESSAGE, 0.0, "empty_answer", finish=answer.finish)
    return ModelTestResult(True, "", 0.0, finish=answer.finish)
