"""Send Celery tasks whose caller must know whether they were sent."""

from collections.abc import Sequence

from celery import current_app
from kombu.exceptions import KombuError
from redis import RedisError

from common.errors import Unavailable

FAIL_FAST_OPTIONS = {
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0,
    "socket_connect_timeout": 0.5,
    "socket_timeout": 1.0,
}
"""Options of the broker's connection for requests: with Celery's defaults, a request would wait for ever."""


def send_task_now(name: str, arguments: Sequence[object]) -> None:
    """Send a task to a worker. Raises `Unavailable` if Redis does not accept it within about a second."""
    options = current_app.conf.broker_transport_options | FAIL_FAST_OPTIONS
    try:
        with current_app.connection_for_write(transport_options=options) as connection:
            current_app.send_task(name, list(arguments), connection=connection, retry=False)
    except (KombuError, RedisError, OSError) as error:
        raise Unavailable(
            "This cannot be done right now. Nothing was changed.", hints=["Try again in a moment."]
        ) from error
