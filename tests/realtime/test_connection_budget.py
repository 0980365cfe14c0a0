"""RUN8: the connections of a whole installation, summed up from the settings, leave PostgreSQL room."""

import pytest
from django.conf import settings
from django.db import connection

from realtime import maintenance
from runs.worker import isolation
from runs.worker.engine import TOOL_THREADS


def most_of_a_process(main_work: int = settings.DATABASE_POOL) -> int:
    """What a process opens at most: the pool holds it to this, however many threads it has."""
    beside: int = settings.LIVE_THREADS
    return main_work + beside


@pytest.mark.django_db
def test_RUN8_an_installation_takes_less_than_60_percent_of_the_connections() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW max_connections")
        ceiling: int = int(cursor.fetchone()[0])
    web = worker = most_of_a_process()
    apart = isolation.MAX_PROCESSES * most_of_a_process(int(isolation.POOL))
    by_hand = most_of_a_process()  # migrations, a command
    assert web + worker + apart + by_hand < 0.6 * ceiling


def test_RUN8_the_pool_limits_the_connections() -> None:
    options = settings.DATABASES["default"]["OPTIONS"]
    assert options["pool"]["max_size"] == settings.MAX_CONNECTIONS
    assert settings.DATABASES["default"]["CONN_MAX_AGE"] == 0


def test_RUN8_no_thread_waits_for_ever_for_a_connection() -> None:
    """In the web process those of requests and of sockets, in a worker those of runs, tools, heartbeat and sweeper."""
    assert settings.WEB_THREADS + settings.LIVE_THREADS <= settings.MAX_CONNECTIONS
    runs, heartbeat, sweeper = settings.DATABASE_POOL - 2, 1, 1
    assert runs + TOOL_THREADS + heartbeat + sweeper <= settings.MAX_CONNECTIONS


def test_SEC5_rights_are_checked_within_five_seconds_by_default() -> None:
    """Tests of withdrawn rights run with a faster clock; this holds the one that people get."""
    assert 0 < maintenance.RIGHTS_CHECK_INTERVAL_SECONDS <= 5
