"""What an error of the database means."""

from django.db import InterfaceError, OperationalError

AWAY = ("08", "57")
"""Classes of SQLSTATE: the connection failed; the server is being stopped or started."""
PASSING = ("40001", "40P01", "55P03", "57014")
"""SQLSTATEs of a transaction that was broken off because of others: serialization failure, deadlock, a lock that was not free
in time, a statement that took too long or was cancelled."""
_NOT_SENT = "number of parameters"


def is_database_away(error: BaseException) -> bool:
    """Return whether the database could not be asked, so that the same may succeed later (RUN7).

    An `OperationalError` may as well be the database's refusal of what it was asked: that fails each time.
    """
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    cause = error.__cause__ or error
    state = getattr(cause, "sqlstate", None)
    if state is None:
        return _NOT_SENT not in str(cause)  # psycopg's own refusal: nothing was sent
    return str(state)[:2] in AWAY and state not in PASSING


def may_succeed_again(error: BaseException) -> bool:
    """Return whether the database broke a transaction off that may succeed when it is tried again at once."""
    return getattr(error.__cause__ or error, "sqlstate", None) in PASSING
