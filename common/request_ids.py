"""The id of an HTTP request, by which its answer, its log lines and what a proxy has logged are found together."""

import logging
import re
from collections.abc import Iterable
from contextvars import ContextVar
from uuid import uuid4

HEADER = b"x-request-id"

_SAFE = re.compile(rb"[A-Za-z0-9-]{8,64}")
_current: ContextVar[str] = ContextVar("request_id", default="")


def choose_request_id(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the id that the client or a proxy has given to a request if it has a safe form, else a new one."""
    given = [value for name, value in headers if name == HEADER]
    return given[0].decode() if len(given) == 1 and _SAFE.fullmatch(given[0]) else uuid4().hex


def set_request_id(id: str) -> None:
    """Set the id of the request that this thread executes from now on; "" after its end."""
    _current.set(id)


def get_request_id() -> str:
    """Return the id of the request that this thread executes; "" if it executes none."""
    return _current.get()


def build_request_data() -> dict[str, str]:
    """Return the data of an internal error: with the id of the request, an operator finds it in the log."""
    id = get_request_id()
    return {"request_id": id} if id else {}


class AddRequestId(logging.Filter):
    """Adds the id of the request to log lines, as `request_prefix`: empty, or the id in brackets with a space after it."""

    def filter(self, record: logging.LogRecord) -> bool:
        id = get_request_id()
        record.request_prefix = f"[{id}] " if id else ""
        return True
