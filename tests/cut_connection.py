"""A wire between a client and a server that a test can cut, or silence, as networks do."""

import socket
import struct
import threading
from contextlib import suppress
from urllib.parse import urlsplit


class CutConnection:
    """Passes on what is sent to `port`, to the server that `url` names.

    `cut` breaks what is connected; `reset` does it without a goodbye (RST); `silence` leaves it connected and passes
    nothing on any more; while `is_down`, whoever connects is sent away.
    """

    def __init__(self, url: str) -> None:
        self._to = urlsplit(url)
        self.is_down = False
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = self._to._replace(
            netloc=f"{self._to.netloc.rpartition(':')[0].rpartition('@')[0]}@127.0.0.1:{self._door.getsockname()[1]}"
        ).geturl()
        self._pairs: list[tuple[socket.socket, socket.socket, threading.Event]] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Break all connections."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair[:2]:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def reset(self) -> None:
        """Break all connections as a network does that forgets them: both sides are told of a reset."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair[:2]:
                with suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    end.shutdown(socket.SHUT_RD)

    def silence(self) -> None:
        """From now on nothing comes through on the connections that there are."""
        for _, _, is_silent in self._pairs:
            is_silent.set()

    def close(self) -> None:
        self.is_down = True
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._door.accept()
                if self.is_down:
                    near.close()
                    continue
                far = socket.create_connection((self._to.hostname or "", self._to.port or 0))
                is_silent = threading.Event()
                self._pairs.append((near, far, is_silent))
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._pass_on, args=(source, target, is_silent), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, is_silent: threading.Event) -> None:
        with suppress(OSError), source:
            while part := source.recv(65536):
                if not is_silent.is_set():
                    target.sendall(part)
        with suppress(OSError):
            if not target.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER):
                target.shutdown(socket.SHUT_RDWR)
