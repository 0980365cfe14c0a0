"""A server to which workspace tools send HTTP requests."""

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class BookingServer:
    """A server that counts the requests by `Idempotency-Key`, and answers with `status` while `answers` is set; `/slow` never.

    `answered`: the keys to which the whole answer was sent, although the client may be gone. `document`: what it says at
    `/openapi.json`, in this `Content-Encoding`.
    """

    def __init__(self) -> None:
        self.status = 200
        self.keys: Counter[str] = Counter()
        self.answered: set[str] = set()
        self.paths: list[str] = []
        self.answers = threading.Event()
        self.answers.set()
        self.closed = threading.Event()
        self.document = b""
        self.document_encoding = ""
        booking = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                booking.paths.append(self.path)
                if self.path == "/slow":
                    booking.closed.wait(30)
                is_document = self.path == "/openapi.json"
                body = (
                    booking.document
                    if is_document
                    else json.dumps({"auth": self.headers.get("Authorization")}).encode()
                )
                self._answer(body, encoding=booking.document_encoding if is_document else "")

            def do_POST(self) -> None:
                booking.paths.append(self.path)
                key = self.headers["Idempotency-Key"]
                booking.keys[key] += 1
                booking.answers.wait(30)
                try:
                    self._answer(b'{"held": true}')
                except ConnectionError:
                    return
                booking.answered.add(key)

            def _answer(self, body: bytes, encoding: str = "") -> None:
                self.send_response(booking.status)
                if encoding:
                    self.send_header("Content-Encoding", encoding)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args: Any) -> None:
                """Write nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.host = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"http://{self.host}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.answers.set()
        self.closed.set()
        self._server.shutdown()
        self._server.server_close()
