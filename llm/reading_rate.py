"""Limits how fast the answers of models are read: one event loop reads for all workspaces (FAIR1)."""

from uuid import UUID

from common.bounded import BoundedMap
from common.token_bucket import TokenBucket

CHUNKS_PER_SECOND = 6_000.0
"""Chunks that the runs of one workspace read in a second, in one process. Forty agents at 150 tokens a second need as many."""
BURST_CHUNKS = 12_000.0
CHARACTERS_PER_CHUNK = 256
"""A chunk counts once more for each of so many characters."""


class ReadingRate:
    """Limits how fast a workspace's runs read what their models write."""

    __slots__ = ("_bucket",)

    def __init__(self) -> None:
        self._bucket = TokenBucket(CHUNKS_PER_SECOND, BURST_CHUNKS)

    def get_pause(self, text: str) -> float:
        """Count a chunk. Return the seconds that its run waits before it reads the next one."""
        left = self._bucket.consume(1 + len(text) // CHARACTERS_PER_CHUNK)
        return max(0.0, -left / CHUNKS_PER_SECOND)


_rates: BoundedMap[UUID, ReadingRate] = BoundedMap(10_000)


def get_reading_rate(workspace_id: UUID) -> ReadingRate:
    """Return the one rate of all runs of a workspace in this process."""
    return _rates.get_or_set(workspace_id, ReadingRate)
