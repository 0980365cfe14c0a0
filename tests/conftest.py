"""Fixtures for all tests: only the loopback can be reached."""

import gc
import socket
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from django.core.management.commands import flush
from django.db import connection, connections

from common.redis_client import redis_client
from tests.people import Team, make_team
from tests.saved_rows import TABLES_OF_MIGRATIONS, SavedRows
from tests.servers import TEMPLATE

pytest_plugins = ["tests.file_order", "tests.second_attempts"]
# `make chaos` uses new examples each time; a failure is printed in a form that can be repeated.
hypothesis.settings.register_profile("chaos", deadline=None, print_blob=True)
LOOPBACK = ("127.", "localhost", "::1", "0.0.0.0")
_connect = socket.socket.connect
_resolve = socket.getaddrinfo


class NetworkIsClosed(BaseException):
    """A test tried to reach another machine. Not an `Exception`, so that code that retries on errors does not catch it."""


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of every later garbage collection: measured, a tenth of the CPU of the
    fuzz tests."""
    gc.collect()
    gc.freeze()


def _is_loopback(host: Any) -> bool:
    return host is None or str(host if not isinstance(host, bytes) else host.decode()).startswith(LOOPBACK)


@pytest.fixture(scope="session", autouse=True)
def close_network() -> Iterator[None]:
    """Raise `NetworkIsClosed` if a test connects to, or resolves, another machine."""

    def connect(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and not _is_loopback(address[0]):
            raise NetworkIsClosed(f"a test wanted to connect to {address}")
        return _connect(self, address)

    def resolve(host: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_loopback(host):
            raise NetworkIsClosed(f"a test wanted to resolve {host!r}")
        return _resolve(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        patch.setattr(socket, "getaddrinfo", resolve)
        yield


# Foreign keys are not checked.
EMPTY = f"""
DO $$ DECLARE table_name regclass; BEGIN
    SET LOCAL session_replication_role = replica;
    FOR table_name IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
                 AND relname NOT IN {TABLES_OF_MIGRATIONS}
    LOOP EXECUTE format('DELETE FROM %s', table_name); END LOOP;
END $$
"""


def _empty(command: flush.Command, *, database: str, **options: Any) -> None:
    with connections[database].cursor() as cursor:
        cursor.execute(EMPTY)


@pytest.fixture(scope="session")
def django_db_setup(django_db_modify_db_settings: None, django_db_blocker: Any) -> Iterator[None]:
    """Copy the migrated database for this process. The copy is deleted with the server.

    After a test that commits, its tables are emptied within milliseconds; Django's `flush` takes a fifth of a second.
    """
    name = connection.settings_dict["TEST"]["NAME"] or f"test_{connection.settings_dict['NAME']}"
    with django_db_blocker.unblock(), connection._nodb_cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {name}")
        cursor.execute(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    connection.settings_dict["NAME"] = name
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flush.Command, "handle", _empty)
        yield
    with django_db_blocker.unblock():
        connections.close_all()
        connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL


@pytest.fixture(autouse=True)
def closed_circuit_breaker() -> None:
    """No call to Redis is left out because one of an earlier test has failed."""
    redis_client.breaker.record_success()


@pytest.fixture(scope="session")
def saved_team(django_db_setup: None, django_db_blocker: Any) -> SavedRows[Team]:
    with django_db_blocker.unblock():
        return SavedRows(make_team)


@pytest.fixture
def team(db: None, saved_team: SavedRows[Team]) -> Team:
    """Alice, Bob, Charlie and Robin, in one test's transaction."""
    return saved_team.copy()
