"""What holds for every test: only the loopback is open."""

import socket
from collections.abc import Iterator
from typing import Any

import hypothesis
import pytest
from django.core.management.commands import flush
from django.db import connections

from tests.people import Team, make_team

# The examples of `make chaos` are new each time; what fails is printed in a form that repeats it.
hypothesis.settings.register_profile("chaos", deadline=None, print_blob=True)
LOOPBACK = ("127.", "localhost", "::1", "0.0.0.0")
_connect = socket.socket.connect
_resolve = socket.getaddrinfo


class NetworkIsClosed(BaseException):
    """A test tried to reach the outside. Not an `Exception`: code that retries on errors must not swallow it."""


def _is_near(host: Any) -> bool:
    return host is None or str(host if not isinstance(host, bytes) else host.decode()).startswith(LOOPBACK)


@pytest.fixture(scope="session", autouse=True)
def only_the_loopback_is_open() -> Iterator[None]:
    """No test reaches another machine, by name or by address."""

    def connect(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and not _is_near(address[0]):
            raise NetworkIsClosed(f"a test wanted to connect to {address}")
        return _connect(self, address)

    def resolve(host: Any, *args: Any, **kwargs: Any) -> Any:
        if not _is_near(host):
            raise NetworkIsClosed(f"a test wanted to resolve {host!r}")
        return _resolve(host, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        patch.setattr(socket, "getaddrinfo", resolve)
        yield


# What the migrations wrote stays: kinds of rows and permissions do not change in a test. Nothing asks for foreign keys.
EMPTY = """
DO $$ DECLARE place regclass; BEGIN
    SET LOCAL session_replication_role = replica;
    FOR place IN SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
                 AND relname NOT IN ('django_migrations', 'django_content_type', 'auth_permission')
    LOOP EXECUTE format('DELETE FROM %s', place); END LOOP;
END $$
"""


def _empty(command: flush.Command, *, database: str, **options: Any) -> None:
    with connections[database].cursor() as cursor:
        cursor.execute(EMPTY)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None) -> Iterator[None]:
    """After a test that commits the tables are emptied in milliseconds: Django's way takes a fifth of a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flush.Command, "handle", _empty)
        yield


@pytest.fixture
def team(db: None) -> Team:
    """Alice, Bob, Charlie and Robin, in one test's transaction."""
    return make_team()
