"""`python -m bench.adapters`: the CPU time of a streamed token in the adapter of OpenAI's protocol and in that of litellm.

Both read the same answers from the model of the benchmark, in this process; the model has its own. litellm reads it with the
format of a provider that speaks this protocol. It never gets an address outside of tests and this program.
"""

import asyncio
import os
import time
from collections.abc import Callable

import django
import uvloop

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.conf import settings  # noqa: E402

from bench.model import Model, run_model  # noqa: E402
from common.egress import close_sessions  # noqa: E402
from common.secrets import Secret  # noqa: E402
from llm.adapters.litellm import LiteLLMAdapter  # noqa: E402
from llm.adapters.openai import OpenAIAdapter  # noqa: E402
from llm.messages import Answer, ModelRequest, Turn  # noqa: E402
from llm.protocol import LLM, Endpoint, Timeouts  # noqa: E402

TOKENS, RATE, AT_ONCE, ROUNDS = 100, 25, 50, 3


class LiteLLMAtTheModel(LiteLLMAdapter):
    """litellm with the address of the benchmark's model."""

    def _build_model_name(self, model: str) -> str:
        return f"deepseek/{model}"

    def _get_provider_parameters(self, key: str) -> dict[str, str]:
        return super()._get_provider_parameters(key) | {"api_base": str(self._endpoint.api_base)}


async def read_answer(build: Callable[[Endpoint, Timeouts], LLM], endpoint: Endpoint) -> None:
    """Read one answer to its end. Raises `RuntimeError` if it is not complete."""
    request = ModelRequest("deepseek-chat", [Turn("user", "hello")])
    parts = [part async for part in build(endpoint, Timeouts()).ask(request)]
    answer = parts[-1]
    if not isinstance(answer, Answer) or len(answer.text.split()) != TOKENS:
        raise RuntimeError("The answer is not complete.")


async def measure(build: Callable[[Endpoint, Timeouts], LLM], model: Model) -> float:
    """Return the seconds of CPU for each token."""
    endpoint = Endpoint(
        "deepseek", model.build_base(rate=RATE, count=TOKENS), Secret("sk-a-key-of-the-benchmark"), "system"
    )
    await asyncio.gather(*[read_answer(build, endpoint) for _ in range(AT_ONCE)])  # imports and connections, once
    began = time.process_time()
    for _ in range(ROUNDS):
        await asyncio.gather(*[read_answer(build, endpoint) for _ in range(AT_ONCE)])
    seconds = time.process_time() - began
    await close_sessions()
    return seconds / (ROUNDS * AT_ONCE * TOKENS)


def main() -> None:
    """Print the microseconds of each adapter."""
    with run_model() as model:
        base = model.build_base(rate=RATE, count=TOKENS)
        settings.ALLOW_PRIVATE_HOSTS = frozenset({model.host, base.removeprefix("http://")})
        for name, build in (("openai", OpenAIAdapter), ("litellm", LiteLLMAtTheModel)):
            print(f"{name}: {uvloop.run(measure(build, model)) * 1_000_000:.0f} µs of CPU for each token")


if __name__ == "__main__":
    main()
