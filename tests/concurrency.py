"""Two people at once, in an order that a test decides."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection, transaction


def count_sessions_that_wait() -> int:
    """Return how many sessions of this test's own database wait for a lock; other databases have tests too."""
    with connection.cursor() as cursor:
        # A wait for a row names no database, but whoever waits holds locks of tables, which do.
        cursor.execute(
            "SELECT count(DISTINCT waiting.pid) FROM pg_locks waiting JOIN pg_locks held USING (pid)"
            " JOIN pg_database ON pg_database.oid = held.database"
            " WHERE NOT waiting.granted AND datname = current_database()"
        )
        return int(cursor.fetchone()[0])


class ConcurrentTransaction:
    """Something that another person does in a transaction of its own, while we are in ours."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._threads = ThreadPoolExecutor(1)
        self._done = self._threads.submit(self._do, work)
        self._until_it_waits_for_us()

    @staticmethod
    def _do(work: Callable[[], Any]) -> Any:
        try:
            with transaction.atomic():
                return work()
        finally:
            connection.close()

    def _until_it_waits_for_us(self) -> None:
        until = time.monotonic() + 10
        while not self._done.done() and time.monotonic() < until and not count_sessions_that_wait():
            time.sleep(0.02)

    def result(self) -> Any:
        """What came of it; raises what it raised."""
        try:
            return self._done.result(10)
        finally:
            self._threads.shutdown()
