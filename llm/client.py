"""The door to models: which wire an endpoint is spoken to over, and a quick trial of one."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from django.conf import settings

from common.providers import get_provider
from llm.adapters.litellm import LiteLLMWire
from llm.adapters.openai import OpenAIWire
from llm.adapters.service import ServiceWire
from llm.demo.model import DemoModel
from llm.messages import Answer, Request, Turn, Usage
from llm.prices import estimated_usage
from llm.protocol import LLM, Endpoint, LLMError, Timeouts, Trial
from llm.retry import Announce, Retrying, breaker_for

_ADAPTERS: dict[str, Callable[[Endpoint, Timeouts], LLM]] = {"openai": OpenAIWire, "litellm": LiteLLMWire}

TRIAL_SECONDS = 20.0
TRIAL_IDLE = 8.0
"""Seconds of silence in the middle of an answer after which a trial fails."""
ENOUGH_WORDS = 8
"""Chunks of text after which a trial does not wait for the end of the answer."""
SILENT = "The model answered, but without a word."


def llm_for(
    endpoint: Endpoint, timeouts: Timeouts | None = None, *, tenant: str = "", announce: Announce | None = None
) -> LLM:
    """The model behind an endpoint, inside the one retry layer. The settings' time limits unless others are given.

    The failures of one `tenant` (a workspace) rest the model for that tenant only, also where all use the operator's key.
    `announce` is called before a long wait for the next try.
    """
    llm = _adapter_for(endpoint, timeouts or default_timeouts())
    if isinstance(llm, DemoModel):
        return llm
    # The key is told apart by its hash only, so that it is not kept in yet another place.
    breaker = partial(
        breaker_for,
        tenant,
        endpoint.provider,
        endpoint.api_base or "",
        str(sorted(endpoint.options.items())),
        str(hash(endpoint.key)),
    )
    return Retrying(llm, breaker, announce=announce)


def _adapter_for(endpoint: Endpoint, timeouts: Timeouts) -> LLM:
    if endpoint.provider == "merge_service":
        return ServiceWire(endpoint, timeouts)
    adapter = get_provider(endpoint.provider).adapter
    return DemoModel() if adapter == "demo" else _ADAPTERS[adapter](endpoint, timeouts)


def default_timeouts() -> Timeouts:
    """The limits of this installation."""
    return Timeouts(settings.LLM_FIRST_TOKEN_TIMEOUT, settings.LLM_IDLE_TIMEOUT, settings.LLM_TOTAL_TIMEOUT)


async def try_model(endpoint: Endpoint, model: str, *, seconds: float = TRIAL_SECONDS) -> Trial:
    """Ask one short question and wait for an answer that is whole, or long enough. Never raises for what the endpoint does."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    # Room for a model that thinks before it says a word.
    request = Request(model, [Turn("user", "Say OK.")], parameters={"max_tokens": 512})
    limits = Timeouts(first=seconds, idle=min(TRIAL_IDLE, seconds), total=seconds)
    llm = _adapter_for(endpoint, limits)
    first, words, came = None, 0, ""
    trial = Trial(True, "", 0.0, finish="left")
    usage = None
    try:
        async with aclosing(llm.ask(request)) as parts:
            async for part in parts:
                first = loop.time() - started if first is None else first
                if isinstance(part, Answer):
                    trial, usage = _judge(part), part.usage
                    break
                came += part.text
                words += part.part == "text" and bool(part.text.strip())
                if words >= ENOUGH_WORDS:
                    break
    except LLMError as error:
        usage = error.usage or Usage()
        is_slow = error.code == "timeout_total" and words > 1
        if not is_slow:
            trial, first = Trial(False, error.message, 0.0, error.code), loop.time() - started
    usage = usage or estimated_usage(endpoint, request, came)
    return replace(trial, seconds=first or 0.0, total=loop.time() - started, usage=usage)


def _judge(answer: Answer) -> Trial:
    """Return the trial of a whole answer: it fails when the answer has no text."""
    is_silent = not answer.text.strip() and not (answer.finish == "length" and answer.thinking)
    if is_silent:
        return Trial(False, SILENT, 0.0, "empty_answer", finish=answer.finish)
    return Trial(True, "", 0.0, finish=answer.finish)
