"""Identifiers: UUIDv7, made by the application (RFC 9562 §5.7). An id is never a right, and never a cursor."""

import uuid
from datetime import datetime

from uuid_utils.compat import uuid7


def new_id() -> uuid.UUID:
    """A fresh UUIDv7: unique, and roughly ordered by time of making, which keeps indexes compact."""
    return uuid7()


def id_at(moment: datetime) -> uuid.UUID:
    """The lowest id that can have been made at `moment`: what was made later is above it, so that an id's index finds it."""
    return uuid.UUID(int=int(moment.timestamp() * 1000) << 80)
