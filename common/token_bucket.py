"""A token bucket in memory, for one thread. `actors.rates` has the buckets that processes share."""

import time


class TokenBucket:
    """Has up to `burst` tokens and gets `per_second` new ones. The number of tokens may become negative."""

    __slots__ = ("_burst", "_per_second", "_updated_at", "left")

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._updated_at = time.monotonic()
        self.left = burst

    def consume(self, amount: float = 1) -> float:
        """Consume `amount` tokens. Return how many are left, which may be negative."""
        now = time.monotonic()
        self.left = min(self._burst, self.left + (now - self._updated_at) * self._per_second) - amount
        self._updated_at = now
        return self.left
