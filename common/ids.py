"""Identifiers: UUIDv7, made by the application (RFC 9562 §5.7). An id is no secret: knowing it gives no access."""

import uuid
from datetime import datetime

from uuid_utils.compat import uuid7


def new_id() -> uuid.UUID:
    """Return a new UUIDv7. They are roughly ordered by time, which keeps indexes compact."""
    return uuid7()


def get_lowest_id_at(moment: datetime) -> uuid.UUID:
    """Return the lowest possible id of rows made at `moment`, to query by time with the index of the primary key."""
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)
