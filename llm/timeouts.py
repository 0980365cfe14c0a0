"""Time limits of one request to a model, at the price of one timer instead of one per token (RUN10)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from llm.protocol import LLMError, Timeouts

_TEXTS = {
    "timeout_first": "The model did not begin to answer within {0:g} s.",
    "timeout_idle": "The model fell silent for {0:g} s in the middle of its answer.",
    "timeout_total": "The model did not finish within {0:g} s.",
}


class Watch:
    """Watches one request. Only time spent waiting for the model counts, not what its reader does between chunks.

    `expire` is called once when a limit is passed; it must make the pending read fail. `verdict()` is then the error to
    raise. When the answer is whole and only its tail is waited for, running out of time is no fault: no verdict.
    """

    def __init__(self, timeouts: Timeouts, expire: Callable[[], None], *, started: float | None = None) -> None:
        self._timeouts = timeouts
        self._expire = expire
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time() if started is None else started
        self._since = self._started
        self._limit = timeouts.first
        self._tail: float | None = None
        self._waiting = True
        self._passed: str | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.first_token_s: float | None = None
        self._arm()

    @property
    def seconds(self) -> float:
        """Since the request began."""
        return self._loop.time() - self._started

    def shown(self) -> None:
        """A chunk is about to be passed on: the clock stands still until `wait`."""
        self._waiting = False
        if self.first_token_s is None:
            self.first_token_s = self.seconds
            self._limit = self._timeouts.idle
            self._rearm()

    def wait(self) -> None:
        """The reader has come back for more: from now on the next chunk is waited for."""
        if not self._waiting:
            self._waiting = True
            self._since = self._loop.time()

    def wait_for_tail(self, seconds: float) -> None:
        """The answer is whole; the server gets so many seconds more to say what it used, and to end the stream."""
        self._waiting = True
        if self._tail != seconds:
            self._tail = seconds
            self._since = self._loop.time()
            self._rearm()

    def stop(self) -> None:
        """The request is over."""
        if self._timer is not None:
            self._timer.cancel()

    def verdict(self) -> LLMError | None:
        """The error for the limit that was passed, if one was."""
        return None if self._passed is None else timeout_error(self._passed, self._timeouts)

    def _due(self) -> tuple[float, str | None]:
        """When the next limit is passed, and which; a tail's has no name."""
        if self._tail is not None:
            return self._since + self._tail, None
        code = "timeout_first" if self.first_token_s is None else "timeout_idle"
        return min((self._since + self._limit, code), (self._started + self._timeouts.total, "timeout_total"))

    def _rearm(self) -> None:
        self.stop()
        self._arm()

    def _arm(self) -> None:
        self._timer = self._loop.call_at(self._due()[0], self._look)

    def _look(self) -> None:
        when, code = self._due()
        if not self._waiting:  # the reader is busy; look again soon
            self._timer = self._loop.call_later(min(0.25, self._limit), self._look)
        elif self._loop.time() < when - 0.001:
            self._arm()
        else:
            self._passed = code
            self._expire()


class Deadlines:
    """The same limits for a stream that can only be awaited, at the price of a timer per chunk."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts = timeouts
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._quiet_until: float | None = None
        self.first_token_s: float | None = None

    @property
    def seconds(self) -> float:
        """Since the request began."""
        return self._loop.time() - self._started

    def shown(self) -> None:
        """A chunk is about to be passed on; the wait for the next one begins when it is asked for."""
        if self.first_token_s is None:
            self.first_token_s = self.seconds
        self._quiet_until = None

    @asynccontextmanager
    async def enforced(self) -> AsyncIterator[None]:
        """Bounds what is awaited inside. Raises `LLMError`."""
        first = self.first_token_s is None
        if self._quiet_until is None:
            begin = self._started if first else self._loop.time()
            self._quiet_until = begin + (self._timeouts.first if first else self._timeouts.idle)
        code = "timeout_first" if first else "timeout_idle"
        when, code = min((self._quiet_until, code), (self._started + self._timeouts.total, "timeout_total"))
        try:
            async with asyncio.timeout_at(when) as limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            raise timeout_error(code, self._timeouts) from None


def timeout_error(code: str, timeouts: Timeouts) -> LLMError:
    """The error for a limit that was passed."""
    limit = getattr(timeouts, code.removeprefix("timeout_"))
    return LLMError(code, _TEXTS[code].format(limit), retryable=code != "timeout_total")
