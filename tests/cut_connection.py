"""A proxy between a client and a server whose connections a test can cut or silence."""

import socket
import struct
import threading
from contextlib import suppress
from urllib.parse import urlsplit


class CutConnection:
    """Forwards connections to the server of the given URL. Clients connect to `url`.

    `cut` closes all connections; `reset` resets them (RST); `silence` keeps them open and forwards nothing more; while `is_down`,
    new connections are closed.
    """

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self.is_down = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = self._target._replace(
            netloc=f"{self._target.netloc.rpartition(':')[0].rpartition('@')[0]}@127.0.0.1:{self._listener.getsockname()[1]}"
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
        """Break all connections with a reset on both sides."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair[:2]:
                with suppress(OSError):
                    end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    end.shutdown(socket.SHUT_RD)

    def silence(self) -> None:
        """Forward nothing more on the existing connections."""
        for _, _, is_silent in self._pairs:
            is_silent.set()

    def close(self) -> None:
        self.is_down = True
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self.is_down:
                    near.close()
                    continue
                far = socket.create_connection((self._target.hostname or "", self._target.port or 0))
                is_silent = threading.Event()
                self._pairs.append((near, far, is_silent))
                for source, target in ((near, far), (far, near)):
                    threading.Thread(target=self._forward, args=(source, target, is_silent), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket, is_silent: threading.Event) -> None:
        with suppress(OSError), source:
            while part := source.recv(65536):
                if not is_silent.is_set():
                    target.sendall(part)
        with suppress(OSError):
            if not target.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER):
                target.shutdown(socket.SHUT_RDWR)
