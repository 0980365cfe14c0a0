"""Classify errors of the database, choose how it plans queries, and let a purge delete what is only appended."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.db import Error, InterfaceError, OperationalError, connection, transaction

CONNECTION_SQLSTATE_CLASSES = ("08", "57")
"""Classes of SQLSTATE: the connection failed; the server is being stopped or started."""
TRANSIENT_SQLSTATES = ("40001", "40P01", "55P03", "57014")
"""SQLSTATEs of a transaction that failed because of other transactions: serialization failure, deadlock, lock not available in
time, statement cancelled or over its time limit."""
_CLIENT_ERROR_TEXT = "number of parameters"
"""A part of the error of the client library for a statement with too many parameters, which fails each time."""


def is_database_unavailable(error: BaseException) -> bool:
    """Return whether the database was unavailable, so that the same query may succeed later (RUN7).

    An `OperationalError` alone does not say so: it may also be an error of the query, which fails each time.
    """
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    cause = error.__cause__ or error
    state = getattr(cause, "sqlstate", None)
    if state is None:
        return _CLIENT_ERROR_TEXT not in str(cause)  # the error is the client's own, without an answer of the server
    return str(state)[:2] in CONNECTION_SQLSTATE_CLASSES and state not in TRANSIENT_SQLSTATES


def get_violated_constraint(error: Error) -> str | None:
    """Return the name of the constraint that a statement has violated; null for any other error."""
    cause = error.__cause__
    return cause.diag.constraint_name if isinstance(cause, psycopg.Error) else None


def is_retryable(error: BaseException) -> bool:
    """Return whether the database aborted a transaction that may succeed when it is retried at once."""
    return getattr(error.__cause__ or error, "sqlstate", None) in TRANSIENT_SQLSTATES


@contextmanager
def use_custom_plans() -> Iterator[None]:
    """Let PostgreSQL plan the queries until the end of the transaction for their values. This costs one more query. Opens a
    transaction if there is none.

    By default PostgreSQL may use one plan for all values once a connection has executed a statement several times. A search for a
    frequent word is then up to ten times as slow, because that plan reads all messages with the word instead of the newest ones.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_custom_plan")
        yield


def allow_purge() -> None:
    """Let the current transaction delete rows that are only appended otherwise. The database refuses it in any other."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('atelier.purge', 'on', true)")
