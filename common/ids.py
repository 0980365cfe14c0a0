"""Identifiers: UUIDv7, made by the application (RFC 9562 §5.7). Knowing an id gives no access."""

import uuid
from datetime import datetime

from uuid_utils.compat import uuid7


def new_id() -> uuid.UUID:
    """Return a new UUIDv7. They are roughly ordered by time, which keeps indexes compact."""
    return uuid7()


def get_lowest_id_at(moment: datetime) -> uuid.UUID:
    """Return the lowest id that can have been made at `moment`, for queries by time on the index of ids."""
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)
