"""The listening socket of the installation, and a probe that finds out when the web process answers on it.

The launcher opens the socket and passes it to the web process. So a port in use is reported at once, and clients wait instead of
being refused while the web process restarts.
"""

import http.client
import selectors
import socket
import time
from collections.abc import Mapping
from functools import partial

from common.processes import StartError

USUAL_PORT = 8000
PORTS_TRIED = 100
PROBE_INTERVAL_SECONDS = 0.2


def open_listener(settings: Mapping[str, str]) -> tuple[socket.socket, str]:
    """Listen on HOST and PORT; without PORT, on the first free port from 8000 on. Raises `StartError`.

    Return the socket and its URL on this machine.
    """
    host = settings.get("HOST") or "127.0.0.1"
    chosen = settings.get("PORT", "")
    if chosen and not (chosen.isdigit() and 0 < int(chosen) < 65536):
        raise StartError(f"PORT is {chosen!r}: it must be a number from 1 to 65535.")
    ports = [int(chosen)] if chosen else range(USUAL_PORT, USUAL_PORT + PORTS_TRIED)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    reason = ""
    for port in ports:
        try:
            listener = socket.create_server((host, port), family=family, backlog=2048)
        except OSError as error:
            reason = error.strerror or str(error)
        else:
            name = "localhost" if host in ("127.0.0.1", "0.0.0.0", "::1", "::") else host
            return listener, f"http://{f'[{name}]' if ':' in name else name}:{port}"
    named = f"Port {chosen}" if chosen else f"Ports {ports[0]} to {ports[-1]}"
    raise StartError(f"{named} of {host} cannot be used ({reason}). Set PORT to another one.")


class ReadinessProbe:
    """Requests `/readyz` until it answers 200, without blocking the launcher's loop."""

    def __init__(self, listener: socket.socket, selector: selectors.BaseSelector) -> None:
        host, port = listener.getsockname()[:2]
        self._host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        self._port = port
        self._selector = selector
        self._connection: http.client.HTTPConnection | None = None
        self._next = 0.0
        self._is_ready = False
        self._is_reported = False

    def poll(self) -> bool:
        """Send the next request if it is due. Return true once: at the first call after the installation is ready."""
        if not self._is_ready and self._connection is None and time.monotonic() >= self._next:
            self._send_request()
        if self._is_ready and not self._is_reported:
            self._is_reported = True
            return True
        return False

    def _send_request(self) -> None:
        self._next = time.monotonic() + PROBE_INTERVAL_SECONDS
        # Neither connecting nor sending blocks: the kernel buffers both until the web process reads.
        connection = http.client.HTTPConnection(self._host, self._port, timeout=5)
        try:
            connection.request("GET", "/readyz", headers={"Host": "localhost", "Connection": "close"})
        except OSError:
            connection.close()
            return
        self._connection = connection
        self._selector.register(connection.sock, selectors.EVENT_READ, partial(self._read_response, connection))

    def _read_response(self, connection: http.client.HTTPConnection) -> None:
        self._connection = None
        self._selector.unregister(connection.sock)
        try:
            self._is_ready = connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            self._is_ready = False
        finally:
            connection.close()
