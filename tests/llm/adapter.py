"""The OpenAI adapter in front of the scripted model server."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from common.bounded import BoundedMap
from common.egress import close_sessions
from common.secrets import Secret
from llm.adapters import openai
from llm.adapters.openai import OpenAIAdapter
from llm.messages import Answer, Chunk, ModelRequest, Turn
from llm.protocol import Endpoint, LLMError, Timeouts
from tests.scripted_model import ScriptedModel

KEY = Secret("canary-4711-not-an-ordinary-key")
ASK = ModelRequest("scripted", [Turn("system", "Be brief."), Turn("user", "Hello")])


@pytest.fixture
async def scripted(server: ScriptedModel, settings) -> AsyncIterator[ScriptedModel]:
    server.reset()
    settings.ALLOW_PRIVATE_HOSTS = frozenset({server.host})
    settings.EMBEDDED = False
    openai._without_usage, openai._requiring_thinking = BoundedMap(openai.MAX_LEARNT), BoundedMap(openai.MAX_LEARNT)
    openai._refused_tools = BoundedMap(openai.MAX_LEARNT)
    yield server
    await close_sessions()


def build_adapter(scripted: ScriptedModel, timeouts: Timeouts | None = None, **endpoint: Any) -> OpenAIAdapter:
    facts: dict[str, Any] = {
        "provider": "openai_compatible",
        "api_base": scripted.api_base,
        "key": KEY,
        "paid_by": "workspace",
    } | endpoint
    return OpenAIAdapter(Endpoint(**facts), timeouts or Timeouts())


async def parts_of(llm: OpenAIAdapter, request: ModelRequest = ASK) -> list[Chunk | Answer]:
    return [part async for part in llm.ask(request)]


async def answer_of(llm: OpenAIAdapter, request: ModelRequest = ASK) -> Answer:
    answer = (await parts_of(llm, request))[-1]
    assert isinstance(answer, Answer)
    return answer


async def failure_of(llm: OpenAIAdapter, request: ModelRequest = ASK) -> LLMError:
    with pytest.raises(LLMError) as raised:
        await answer_of(llm, request)
    return raised.value


def events(*texts: str, finish: str | None = "stop", wait: float = 0.0) -> list[dict[str, Any]]:
    return [{"delta": {"content": text}, "finish": finish, "wait": wait} for text in texts]


def deltas(*sent: dict[str, Any], finish: str = "stop") -> list[dict[str, Any]]:
    """Return the events of an answer with these deltas and one finish reason."""
    return [*({"delta": delta} for delta in sent), {"finish": finish}]
