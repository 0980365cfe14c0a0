"""Two concurrent transactions, in an order that a test decides."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection, transaction


def count_sessions_that_wait() -> int:
    """Return how many sessions of this test's database wait for a lock. Other tests use other databases of the server."""
    with connection.cursor() as cursor:
        # A lock of a row that is waited for has no database, but the waiting session has locks of tables, which have one.
        cursor.execute(
            "SELECT count(DISTINCT waiting.pid) FROM pg_locks waiting JOIN pg_locks held USING (pid)"
            " JOIN pg_database ON pg_database.oid = held.database"
            " WHERE NOT waiting.granted AND datname = current_database()"
        )
        return int(cursor.fetchone()[0])


class ConcurrentTransaction:
    """Runs `work` in a transaction of another thread. The constructor returns when it has ended or waits for a lock of ours."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._threads = ThreadPoolExecutor(1)
        self._done = self._threads.submit(self._run, work)
        self._wait_until_blocked()

    @staticmethod
    def _run(work: Callable[[], Any]) -> Any:
        try:
            with transaction.atomic():
                return work()
        finally:
            connection.close()

    def _wait_until_blocked(self) -> None:
        until = time.monotonic() + 60
        while not self._done.done() and time.monotonic() < until and not count_sessions_that_wait():
            time.sleep(0.02)

    def result(self) -> Any:
        """Return the result of `work`, or raise its exception."""
        try:
            return self._done.result(60)
        finally:
            self._threads.shutdown()
