"""Limit how fast the answers of models are read, because one event loop reads for all workspaces (FAIR1)."""

from uuid import UUID

from common.bounded import BoundedMap
from common.token_bucket import TokenBucket

CHUNKS_PER_SECOND = 6_000.0
"""Chunks per second for all runs of a workspace in one process: forty agents at 150 tokens a second."""
BURST_CHUNKS = 12_000.0
CHARACTERS_PER_CHUNK = 256
"""A chunk counts as one, and as one more for each 256 characters of its text."""


class ReadingRate:
    """Limits how fast the runs of a workspace read the answers of their models."""

    __slots__ = ("_bucket",)

    def __init__(self) -> None:
        self._bucket = TokenBucket(CHUNKS_PER_SECOND, BURST_CHUNKS)

    def count_chunk(self, text: str) -> float:
        """Count a chunk. Return the seconds that its run must wait before it reads the next chunk."""
        left = self._bucket.consume(1 + len(text) // CHARACTERS_PER_CHUNK)
        return max(0.0, -left / CHUNKS_PER_SECOND)


_rates: BoundedMap[UUID, ReadingRate] = BoundedMap(10_000)


def get_reading_rate(workspace_id: UUID) -> ReadingRate:
    """Return the rate that all runs of a workspace in this process share."""
    return _rates.get_or_set(workspace_id, ReadingRate)
