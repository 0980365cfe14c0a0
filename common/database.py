"""Classifies errors of the database."""

from django.db import InterfaceError, OperationalError

CONNECTION_SQLSTATE_CLASSES = ("08", "57")
"""Classes of SQLSTATE: the connection failed; the server is being stopped or started."""
TRANSIENT_SQLSTATES = ("40001", "40P01", "55P03", "57014")
"""SQLSTATEs of a transaction that was broken off because of others: serialization failure, deadlock, a lock that was not free
in time, a statement that took too long or was cancelled."""
_CLIENT_ERROR_TEXT = "number of parameters"


def is_database_away(error: BaseException) -> bool:
    """Return whether the database could not be asked, so that the same may succeed later (RUN7).

    An `OperationalError` may as well be the database's refusal of what it was asked: that fails each time.
    """
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    cause = error.__cause__ or error
    state = getattr(cause, "sqlstate", None)
    if state is None:
        return _CLIENT_ERROR_TEXT not in str(cause)  # an error of psycopg itself: nothing was sent
    return str(state)[:2] in CONNECTION_SQLSTATE_CLASSES and state not in TRANSIENT_SQLSTATES


def may_succeed_again(error: BaseException) -> bool:
    """Return whether the database broke a transaction off that may succeed when it is tried again at once."""
    return getattr(error.__cause__ or error, "sqlstate", None) in TRANSIENT_SQLSTATES
