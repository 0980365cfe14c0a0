"""Asking again: the one place where a request to a model is repeated (RUN11, RUN20)."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from llm.messages import Answer, Chunk, Request
from llm.protocol import LLM, LLMError

TRIES = 3
TRIES_BY_CODE = {"cut": 2, "timeout_first": 2}
"""A broken or silent stream has cost its wait already: once more is enough."""
BASE_DELAY = 0.5
MAX_DELAY = 20.0
"""Seconds. A provider that asks for a longer wait is not asked again: the person decides."""
BREAK_AFTER = 10
"""Failures in a row, of a tenant's runs on one endpoint and model, after which nobody asks for a while."""
REST = 5.0
ANNOUNCED_FROM = 2.0
"""Seconds from which on a wait before the next try is announced."""

Announce = Callable[[float], Awaitable[None]]
"""Says that the model is asked again after so many seconds."""


@dataclass
class Breaker:
    """Whether an endpoint and model is worth asking. After `BREAK_AFTER` failures in a row it rests, then one tries."""

    failures: int = 0
    until: float = 0.0
    last: LLMError | None = None

    def check(self, now: float) -> None:
        """Raises `LLMError` while it rests."""
        if self.failures < BREAK_AFTER:
            return
        if now < self.until:
            raise self._resting(self.until - now)
        self.until = now + REST  # this one tries; the others wait for what comes of it

    def succeeded(self) -> None:
        self.failures, self.last = 0, None

    def failed(self, error: LLMError, now: float) -> None:
        if not error.retryable:
            return  # the request was at fault, not the endpoint
        self.failures += 1
        self.last = error
        self.until = now + min(max(REST, error.retry_after or 0.0), 60.0)

    def _resting(self, seconds: float) -> LLMError:
        code = self.last.code if self.last else "server"
        text = (
            f"The model failed {self.failures} times in a row; it is left alone for {seconds:.0f} s. Last: {self.last}"
        )
        return LLMError(code, text[:500], retryable=True, retry_after=seconds, tries=0)


_breakers: dict[tuple[str, ...], Breaker] = {}


def breaker_for(*key: str) -> Breaker:
    """The breaker that a tenant's runs in this process share for one endpoint, key and model."""
    if len(_breakers) > 10_000:
        _breakers.clear()
    return _breakers.setdefault(key, Breaker())


class Retrying:
    """Another `LLM`, asked up to three times, but never again once a chunk of its answer was shown."""

    def __init__(
        self,
        llm: LLM,
        breaker: Callable[[str], Breaker],
        *,
        dice: Callable[[], float] = random.random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        announce: Announce | None = None,
    ) -> None:
        self._llm = llm
        self._breaker = breaker
        self._dice = dice
        self._sleep = sleep
        self._announce = announce

    async def ask(self, request: Request) -> AsyncGenerator[Chunk | Answer, None]:
        """Ask, and again where that can help. Raises the last `LLMError`, with `tries`."""
        breaker = self._breaker(request.model)
        tries = 0
        failed: LLMError | None = None
        while True:
            try:
                breaker.check(_now())
            except LLMError as resting:
                raise failed or resting from None  # who has asked says what came of it, and not what others met
            tries += 1
            shown = False
            try:
                async with aclosing(self._llm.ask(request)) as parts:
                    async for part in parts:
                        shown = True
                        if isinstance(part, Answer):
                            breaker.succeeded()  # before it is passed on: who has the answer listens no longer
                        yield replace(part, tries=tries) if isinstance(part, Answer) else part
            except LLMError as error:
                error.tries, failed = tries, error
                breaker.failed(error, _now())
                if shown or not self._again(error, tries):
                    raise
                delay = self._delay(error, tries)
                if self._announce is not None and delay >= ANNOUNCED_FROM:
                    await self._announce(delay)
                await self._sleep(delay)
            else:
                return

    def _again(self, error: LLMError, tries: int) -> bool:
        most = TRIES_BY_CODE.get(error.code, TRIES)
        return error.retryable and tries < most and (error.retry_after or 0.0) <= MAX_DELAY

    def _delay(self, error: LLMError, tries: int) -> float:
        """Seconds: what the provider asked for and a little more, else growing; jittered, lest runs march in step."""
        backoff: float = BASE_DELAY * 2 ** (tries - 1)
        if error.retry_after is not None:
            return error.retry_after + self._dice() * backoff / 2
        return backoff * (0.5 + self._dice())


def _now() -> float:
    return asyncio.get_running_loop().time()
