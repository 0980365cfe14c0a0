"""A database backend that checks the health of a pooled connection only if its socket is readable.

Django's own check (`CONN_HEALTH_CHECKS`) is a round trip to the database with every request. A server that ends closes its
sockets, which makes our end readable: polling the socket takes a microsecond, and after a restart of PostgreSQL no request gets
a dead connection (RUN7).
"""

import select
from typing import Any

import psycopg
from django.db.backends.postgresql import base
from psycopg_pool import ConnectionPool


class DatabaseWrapper(base.DatabaseWrapper):
    """The wrapper that `ENGINE` in the settings selects."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        connection = super().get_new_connection(conn_params)
        while self.pool is not None and _is_dead(connection):
            connection.close()
            # The pool replaces a connection that is returned closed.
            self.pool.putconn(connection)
            connection = super().get_new_connection(conn_params)
        return connection


def _is_dead(connection: "psycopg.Connection[Any]") -> bool:
    """Return whether the server has closed the connection.

    An idle socket is readable only if the server closed it or sent a notice. Only in these two cases a query is made,
    which tells one from the other.
    """
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if not poll.poll(0):
        return False
    try:
        ConnectionPool.check_connection(connection)
    except psycopg.Error:
        return True
    return False
