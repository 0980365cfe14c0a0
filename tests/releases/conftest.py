"""A database of its own for each test of migrations."""

from collections.abc import Iterator

import pytest
from django.db import connection


@pytest.fixture
def empty_database() -> Iterator[None]:
    """A database without tables, in place of the test's own."""
    own = connection.settings_dict["NAME"]
    name = f"{own}_release"
    with connection.cursor() as cursor:
        cursor.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        cursor.execute(f'CREATE DATABASE "{name}"')
    _connect(name)
    yield
    _connect(own)
    with connection.cursor() as cursor:
        cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def _connect(name: str) -> None:
    connection.close()
    # Its connections are to the database of before.
    connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL
    connection.settings_dict["NAME"] = name
    connection.connect()
