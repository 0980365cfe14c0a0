"""Identifiers: UUIDv7, made by the application (RFC 9562 §5.7). An id is never a right, and never a cursor."""

import uuid

from uuid_utils.compat import uuid7


def new_id() -> uuid.UUID:
    """A fresh UUIDv7: unique, and roughly ordered by time of making, which keeps indexes compact."""
    return uuid7()
