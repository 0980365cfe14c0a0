"""The door to models: which wire an endpoint is spoken to over, and a quick trial of one."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from functools import partial

from django.conf import settings

from agents.llm.demo.model import DemoModel
from agents.llm.exchange import Request, Turn
from agents.llm.litellm_wire import LiteLLMWire
from agents.llm.openai_wire import OpenAIWire
from agents.llm.protocol import LLM, Endpoint, LLMError, Provider, Timeouts, Trial
from agents.llm.retry import Retrying, breaker_for
from agents.llm.service_wire import ServiceWire
from common.egress import close_sessions

_WIRES: dict[Provider, Callable[[Endpoint, Timeouts], LLM]] = {
    "openai": OpenAIWire,
    "openrouter": OpenAIWire,
    "openai_compatible": OpenAIWire,
    "anthropic": LiteLLMWire,
    "gemini": LiteLLMWire,
    "merge_service": ServiceWire,
}


def llm_for(endpoint: Endpoint, timeouts: Timeouts | None = None) -> LLM:
    """The model behind an endpoint, inside the one retry layer. The settings' time limits unless others are given."""
    if endpoint.provider == "demo":
        return DemoModel()
    wire = _WIRES[endpoint.provider](endpoint, timeouts or default_timeouts())
    # The key is told apart by its hash only, so that it is not kept in yet another place.
    breaker = partial(breaker_for, endpoint.provider, endpoint.api_base or "", str(hash(endpoint.key)))
    return Retrying(wire, breaker)


def default_timeouts() -> Timeouts:
    """The limits of this installation."""
    return Timeouts(settings.LLM_FIRST_TOKEN_TIMEOUT, settings.LLM_IDLE_TIMEOUT, settings.LLM_TOTAL_TIMEOUT)


async def try_model(endpoint: Endpoint, model: str, *, seconds: float = 20.0) -> Trial:
    """Ask for one word, and leave as soon as something comes. Never raises for what the endpoint does."""
    loop = asyncio.get_running_loop()
    started = loop.time()
    request = Request(model, [Turn("user", "Say OK.")], parameters={"max_tokens": 16})
    limits = Timeouts(first=seconds, idle=seconds, total=seconds)
    llm = DemoModel() if endpoint.provider == "demo" else _WIRES[endpoint.provider](endpoint, limits)
    try:
        async with aclosing(llm.ask(request)) as parts:
            await anext(parts)
    except LLMError as error:
        return Trial(False, error.message, loop.time() - started)
    return Trial(True, "", loop.time() - started)


def try_model_now(endpoint: Endpoint, model: str) -> Trial:
    """The same for code that has no loop; it leaves no connection behind."""

    async def try_and_close() -> Trial:
        try:
            return await try_model(endpoint, model)
        finally:
            await close_sessions()

    return asyncio.run(try_and_close())
