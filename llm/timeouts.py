"""The time limits of one request to a model, with one timer per request instead of one per chunk (RUN10)."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from operator import itemgetter

from llm.protocol import LLMError, Timeouts

_TEXTS = {
    "timeout_first": "The model did not begin to answer within {0:g} s (LLM_FIRST_TOKEN_TIMEOUT).",
    "timeout_idle": "The model fell silent for {0:g} s in the middle of its answer (LLM_IDLE_TIMEOUT).",
    "timeout_total": "The model did not finish within {0:g} s (LLM_TOTAL_TIMEOUT).",
}


class RequestTimer:
    """Limits the time of one request. What the reader does between chunks counts for the limit of the whole request only.

    `expire` is called once when a limit is exceeded; it must make the pending read fail. `get_error()` then returns the error to
    raise: null if the answer counts as complete and only the end of the stream was missing (`is_complete`).
    """

    def __init__(self, timeouts: Timeouts, expire: Callable[[], None], *, started: float) -> None:
        self._timeouts = timeouts
        self._expire = expire
        self._loop = asyncio.get_running_loop()
        self._started = started
        self._since = self._started
        self._limit = timeouts.first
        self._tail: float | None = None
        self._goes_on_after_finish = False
        self._waiting = True
        self._exceeded: str | None = None
        self.is_complete = False
        self._timer: asyncio.TimerHandle | None = None
        self.first_token_s: float | None = None
        self._start_timer()

    @property
    def seconds(self) -> float:
        """Return the seconds since the request began."""
        return self._loop.time() - self._started

    def pause(self) -> None:
        """Do not enforce the limits while the caller processes a chunk, until `resume` or `resume_for_tail`. From the
        first call on, the limit between two tokens applies, instead of that of the first token."""
        self._waiting = False
        if self.first_token_s is None:
            self.first_token_s = self.seconds
            self._limit = self._timeouts.idle
            self._restart_timer()

    def resume(self) -> None:
        """Start the clock for the next chunk."""
        if not self._waiting:
            self._waiting = True
            self._since = self._loop.time()

    def resume_for_tail(self, seconds: float) -> None:
        """Start the clock after a finish reason: the server has so many seconds for the next chunk, or to report the usage and to
        end the stream. Then the answer counts as complete. A read that brings no chunk does not extend the time."""
        if self._waiting and self._tail == seconds:
            return
        self._goes_on_after_finish |= self._tail is not None and not self._waiting
        self._waiting = True
        self._tail = seconds
        self._since = self._loop.time()
        self._restart_timer()

    def stop(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()

    def get_error(self) -> LLMError | None:
        """Return the error of the limit that was exceeded, or null."""
        return None if self._exceeded is None else build_timeout_error(self._exceeded, self._timeouts)

    def _get_next_deadline(self) -> tuple[float, str | None]:
        """Return the time of the next limit and its error code; the code is null after a complete answer."""
        limits: list[tuple[float, str | None]] = []
        if self._tail is not None:
            limits.append((self._since + self._tail, None))
        else:
            code = "timeout_first" if self.first_token_s is None else "timeout_idle"
            limits.append((self._since + self._limit, code))
        if self._tail is None or self._goes_on_after_finish:
            limits.append((self._started + self._timeouts.total, "timeout_total"))
        return min(limits, key=itemgetter(0))

    def _restart_timer(self) -> None:
        self.stop()
        self._start_timer()

    def _start_timer(self) -> None:
        self._timer = self._loop.call_at(self._get_next_deadline()[0], self._check)

    def _check(self) -> None:
        when, code = self._get_next_deadline()
        if not self._waiting:  # the clock is stopped: check again soon
            self._timer = self._loop.call_later(min(0.25, self._limit), self._check)
        elif self._loop.time() < when - 0.001:
            self._start_timer()
        else:
            self._exceeded, self.is_complete = code, code is None
            self._expire()


class Deadlines:
    """The same limits for a stream whose reads cannot be made to fail: it needs a timer per chunk."""

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts = timeouts
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._wait_deadline: float | None = None
        self.first_token_s: float | None = None

    @property
    def seconds(self) -> float:
        """Return the seconds since the request began."""
        return self._loop.time() - self._started

    def pause(self) -> None:
        """Do not enforce the limits while the caller processes a chunk, until the next `limit_time`."""
        if self.first_token_s is None:
            self.first_token_s = self.seconds
        self._wait_deadline = None

    @asynccontextmanager
    async def limit_time(self) -> AsyncIterator[None]:
        """Limit the time of a read. The limit counts from the start of the request or, after a chunk, from the first read after it.
        A read that brings no chunk does not extend the limit. Raises `LLMError`."""
        first = self.first_token_s is None
        if self._wait_deadline is None:
            begin = self._started if first else self._loop.time()
            self._wait_deadline = begin + (self._timeouts.first if first else self._timeouts.idle)
        code = "timeout_first" if first else "timeout_idle"
        when, code = min((self._wait_deadline, code), (self._started + self._timeouts.total, "timeout_total"))
        try:
            async with asyncio.timeout_at(when) as limit:
                yield
        except TimeoutError:
            if not limit.expired():
                raise
            raise build_timeout_error(code, self._timeouts) from None


def build_timeout_error(code: str, timeouts: Timeouts) -> LLMError:
    """Return the error of a limit that was exceeded."""
    limit = getattr(timeouts, code.removeprefix("timeout_"))
    return LLMError(code, _TEXTS[code].format(limit), retryable=code != "timeout_total")
