"""RUN8: the maximum number of connections of an installation, computed from the settings."""

import pytest
from django.conf import settings
from django.db import connection

from realtime import maintenance
from worker import isolation
from worker.engine import TOOL_THREADS


def most_of_a_process(main_work: int = settings.DATABASE_POOL) -> int:
    """Return the maximum number of connections of a process, which the pool limits."""
    beside: int = settings.SOCKET_THREADS
    return main_work + beside


@pytest.mark.django_db
def test_RUN8_an_installation_takes_less_than_60_percent_of_the_connections() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW max_connections")
        ceiling: int = int(cursor.fetchone()[0])
    web = worker = most_of_a_process()
    isolated = isolation.MAX_PROCESSES * most_of_a_process(int(isolation.POOL))
    by_hand = most_of_a_process()  # migrations, a command
    assert web + worker + isolated + by_hand < 0.6 * ceiling


def test_RUN8_the_pool_limits_the_connections() -> None:
    options = settings.DATABASES["default"]["OPTIONS"]
    assert options["pool"]["max_size"] == settings.MAX_CONNECTIONS
    assert settings.DATABASES["default"]["CONN_MAX_AGE"] == 0


def test_RUN8_no_thread_waits_for_ever_for_a_connection() -> None:
    """Threads of the web process: requests and sockets. Threads of a worker: runs, tools, heartbeat and sweeper."""
    assert settings.WEB_THREADS + settings.SOCKET_THREADS <= settings.MAX_CONNECTIONS
    runs, heartbeat, sweeper = settings.DATABASE_POOL - 2, 1, 1
    assert runs + TOOL_THREADS + heartbeat + sweeper <= settings.MAX_CONNECTIONS


def test_SEC5_rights_are_checked_within_five_seconds_by_default() -> None:
    """Tests of withdrawn rights use shorter intervals; this test checks the default."""
    assert 0 < maintenance.RIGHTS_CHECK_INTERVAL_SECONDS <= 5
