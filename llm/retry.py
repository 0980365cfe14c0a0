"""Retry requests to a model. No other code retries them (RUN11, RUN20)."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace

from django.conf import settings

from llm.messages import Answer, Chunk, ModelRequest
from llm.protocol import LLM, LLMError

MAX_TRIES = 3
MAX_TRIES_BY_CODE = {"cut": 2, "timeout_first": 2}
"""Fewer tries for errors that are found only after a long time."""
BASE_DELAY_SECONDS = 0.5
MAX_DELAY_SECONDS = 20.0
"""If a provider asks for a longer wait, the request is not retried."""
MAX_FAILURES_IN_ROW = 10
"""Failures in a row, on one endpoint and model of a tenant, after which requests pause."""
PAUSE_SECONDS = 5.0
MAX_PAUSE_SECONDS = 60.0
ANNOUNCED_DELAY_SECONDS = 2.0
"""A wait of so many seconds or more before a retry is announced."""

Announce = Callable[[float], Awaitable[None]]
"""Called with the seconds until the retry."""
Check = Callable[[], Awaitable[None]]
"""Called before each request. It raises `LLMError` if the request may not be sent."""


@dataclass
class Breaker:
    """A circuit breaker of an endpoint and model. It opens after `MAX_FAILURES_IN_ROW` failures."""

    failures: int = 0
    until: float = 0.0
    last: LLMError | None = None

    def check(self, now: float) -> None:
        """Raise `LLMError` while the breaker is open. After a pause, one request passes, to test the model."""
        if self.failures < MAX_FAILURES_IN_ROW:
            return
        if now < self.until:
            seconds = self.until - now
            code = self.last.code if self.last else "server"
            text = (
                f"The model failed {self.failures} times in a row; it is not asked again for {seconds:.0f} s. "
                f"Last: {self.last}"
            )
            raise LLMError(code, text[:500], retryable=True, retry_after=seconds, tries=0)
        self.until = now + PAUSE_SECONDS  # others are refused while this request tests the model

    def record_success(self) -> None:
        self.failures, self.last = 0, None

    def record_failure(self, error: LLMError, now: float) -> None:
        if not error.retryable:
            self.until = 0.0  # the request was wrong, and the endpoint works: another one may test it at once
            return
        self.failures += 1
        self.last = error
        self.until = now + min(max(PAUSE_SECONDS, error.retry_after or 0.0), MAX_PAUSE_SECONDS)


_breakers: dict[tuple[str, ...], Breaker] = {}


def get_breaker(*key: str) -> Breaker:
    """Return the breaker that all requests of a tenant in this process share for one endpoint, key and model."""
    if len(_breakers) > 10_000:
        _breakers.clear()
    return _breakers.setdefault(key, Breaker())


class RetryingModel:
    """Sends a request to another `LLM` in up to `MAX_TRIES` tries, including the first. It never retries after the first chunk.

    A server that cannot be reached, or loads its model, is asked again after each of `LLM_RESTART_DELAYS`. `repeats_slow_requests`:
    a request is repeated that did not begin to answer in time; a server with little power would only have more to do.
    """

    def __init__(
        self,
        llm: LLM,
        find_breaker: Callable[[str], Breaker],
        *,
        rng: Callable[[], float] = random.random,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        announce: Announce | None = None,
        check: Check | None = None,
        repeats_slow_requests: bool = True,
    ) -> None:
        self._llm = llm
        self._find_breaker = find_breaker
        self._rng = rng
        self._sleep = sleep
        self._announce = announce
        self._check = check
        self._max_tries = MAX_TRIES_BY_CODE | ({} if repeats_slow_requests else {"timeout_first": 1})

    async def ask(self, request: ModelRequest) -> AsyncGenerator[Chunk | Answer, None]:
        """Send the request, and retry it where that can help. Raises the last `LLMError`, with `tries`."""
        breaker = self._find_breaker(request.model)
        tries = 0
        failed: LLMError | None = None
        while True:
            try:
                breaker.check(_now())
            except LLMError as paused:
                raise failed or paused from None  # the error of this request says more than that of the breaker
            await self._run_check(tries)
            tries += 1
            has_yielded = False
            try:
                async with aclosing(self._llm.ask(request)) as parts:
                    async for part in parts:
                        has_yielded = True
                        if isinstance(part, Answer):
                            breaker.record_success()  # before the yield: the caller may not resume this generator
                        yield replace(part, tries=tries) if isinstance(part, Answer) else part
            except LLMError as error:
                error.tries, failed = tries, error
                breaker.record_failure(error, _now())
                if has_yielded or not self._may_retry(error, tries):
                    raise
                delay = self._get_delay(error, tries)
                if self._announce is not None and delay >= ANNOUNCED_DELAY_SECONDS:
                    await self._announce(delay)
                await self._sleep(delay)
            else:
                return

    async def _run_check(self, tries: int) -> None:
        if self._check is not None:
            try:
                await self._check()
            except LLMError as error:
                error.tries = tries
                raise

    def _may_retry(self, error: LLMError, tries: int) -> bool:
        if _is_restarting(error):
            max_tries = 1 + len(settings.LLM_RESTART_DELAYS)
        else:
            max_tries = self._max_tries.get(error.code, MAX_TRIES)
        return error.retryable and tries < max_tries and (error.retry_after or 0.0) <= MAX_DELAY_SECONDS

    def _get_delay(self, error: LLMError, tries: int) -> float:
        """Return the seconds that the provider asked for, else an exponential backoff, both with jitter."""
        if _is_restarting(error) and error.retry_after is None:
            seconds: float = settings.LLM_RESTART_DELAYS[tries - 1]
            return seconds * (0.95 + 0.1 * self._rng())
        backoff: float = BASE_DELAY_SECONDS * 2 ** (tries - 1)
        if error.retry_after is not None:
            return error.retry_after + self._rng() * backoff / 2
        return backoff * (0.5 + self._rng())


def _is_restarting(error: LLMError) -> bool:
    return error.code == "unreachable" or error.is_starting


def _now() -> float:
    return asyncio.get_running_loop().time()
