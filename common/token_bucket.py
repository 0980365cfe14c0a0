"""A token bucket in memory, for one thread. `actors.rates` has those that processes share."""

import time


class TokenBucket:
    """Has up to `burst` tokens, and gets `per_second` new ones. It may go into debt."""

    __slots__ = ("_burst", "_per_second", "_updated_at", "left")

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._updated_at = time.monotonic()
        self.left = burst

    def consume(self, amount: float = 1) -> float:
        """Consume `amount` tokens. Return how many are left, negative while the bucket is in debt."""
        now = time.monotonic()
        self.left = min(self._burst, self.left + (now - self._updated_at) * self._per_second) - amount
        self._updated_at = now
        return self.left
