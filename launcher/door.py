"""The one address: the listening socket, held by the launcher, and the question whether somebody answers behind it.

The launcher holds it, so that a taken port is known at once, and that callers wait instead of being refused while the
web process is started again.
"""

import http.client
import selectors
import socket
import time
from collections.abc import Mapping

from common.processes import CannotStart

USUAL_PORT = 8000
PORTS_TRIED = 100
EVERY = 0.2  # seconds


def open_door(settings: Mapping[str, str]) -> tuple[socket.socket, str]:
    """Listen on HOST and PORT; without PORT on the first free one from 8000 on. Raises `CannotStart`.

    Returns the socket and the address for people.
    """
    host = settings.get("HOST") or "127.0.0.1"
    wanted = settings.get("PORT", "")
    if wanted and not (wanted.isdigit() and 0 < int(wanted) < 65536):
        raise CannotStart(f"PORT is {wanted!r}: it must be a number from 1 to 65535.")
    ports = [int(wanted)] if wanted else range(USUAL_PORT, USUAL_PORT + PORTS_TRIED)
    why = ""
    for port in ports:
        try:
            door = socket.create_server((host, port), family=_family(host), backlog=2048)
        except OSError as error:
            why = error.strerror or str(error)
        else:
            shown = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::1", "::") else host
            return door, settings.get("PUBLIC_URL") or f"http://{shown}:{port}"
    raise CannotStart(f"Port {wanted or ports} of {host} cannot be used ({why}). Set PORT to another one.")


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


class Probe:
    """Asks `/readyz` until it says yes, without ever blocking the launcher's loop."""

    def __init__(self, door: socket.socket, selector: selectors.BaseSelector) -> None:
        host, port = door.getsockname()[:2]
        self._host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        self._port = port
        self._selector = selector
        self._asked: http.client.HTTPConnection | None = None
        self._next = 0.0
        self._ready = False
        self._told = False

    def found_ready(self) -> bool:
        """True once: when the installation has become ready."""
        if not self._ready and self._asked is None and time.monotonic() >= self._next:
            self._ask()
        if self._ready and not self._told:
            self._told = True
            return True
        return False

    def _ask(self) -> None:
        self._next = time.monotonic() + EVERY
        # Connecting and asking do not wait: the kernel holds both until the web process reads.
        asked = http.client.HTTPConnection(self._host, self._port, timeout=5)
        try:
            asked.request("GET", "/readyz", headers={"Host": "localhost", "Connection": "close"})
        except OSError:
            asked.close()
            return
        self._asked = asked
        self._selector.register(asked.sock, selectors.EVENT_READ, self._hear)

    def _hear(self) -> None:
        asked, self._asked = self._asked, None
        assert asked is not None
        self._selector.unregister(asked.sock)
        try:
            self._ready = asked.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            self._ready = False
        finally:
            asked.close()
