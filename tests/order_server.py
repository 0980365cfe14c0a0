"""A server to which a tool of an agent sends orders (`tests.extra_tools`)."""

import select
import socketserver
import threading
import time
from collections import Counter


class OrderServer:
    """A server that counts orders by key. It answers only while `answers` is set.

    `left_at`: by key, the time when the client disconnected without an answer (`time.time()`).
    """

    def __init__(self) -> None:
        self.orders: Counter[str] = Counter()
        self.left_at: dict[str, float] = {}
        self.answers = threading.Event()
        order_server = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                key = self.rfile.readline().decode().strip()
                order_server.orders[key] += 1
                until = time.monotonic() + 30
                while not order_server.answers.wait(0.005) and time.monotonic() < until:
                    if select.select([self.request], [], [], 0)[0]:
                        order_server.left_at[key] = time.time()
                        return
                self.wfile.write(b"done\n")

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.answers.set()
        self._server.shutdown()
        self._server.server_close()
