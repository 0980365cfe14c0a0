"""A token bucket in memory, for one thread; those that are shared by processes are in `actors.rates`."""

import time


class TokenBucket:
    """Holds up to `burst` tokens and fills up by `per_second`. Taking more than there is runs it into debt."""

    __slots__ = ("_burst", "_per_second", "_then", "left")

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._then = time.monotonic()
        self.left = burst

    def take(self, amount: float = 1) -> float:
        """Take this much. Return what is left, which is negative while the bucket is in debt."""
        now = time.monotonic()
        self.left = min(self._burst, self.left + (now - self._then) * self._per_second) - amount
        self._then = now
        return self.left
