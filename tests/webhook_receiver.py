"""A server of an outside program, which records what is posted to it. Its `close` stops it."""

import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """Answers each POST with `status`, and a `location` if there is one. To `silent_paths` it answers when it is closed.
    `largest`: for each path, the most requests that were open at the same time."""

    def __init__(self) -> None:
        self.status = 200
        self.location = ""
        self.posts: list[tuple[str, dict[str, str], str]] = []
        self.silent_paths: set[str] = set()
        self.open: Counter[str] = Counter()
        self.largest: Counter[str] = Counter()
        self._closing = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.open[self.path] += 1
                receiver.largest[self.path] = max(receiver.largest[self.path], receiver.open[self.path])
                receiver.posts.append((self.path, headers, body))
                if self.path in receiver.silent_paths:
                    receiver._closing.wait(30)
                receiver.open[self.path] -= 1
                self.send_response(receiver.status)
                if receiver.location:
                    self.send_header("Location", receiver.location)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server.server_port}"

    def url(self, path: str) -> str:
        return f"http://{self.host}{path}"

    def close(self) -> None:
        self._closing.set()
        self.server.shutdown()
        self.server.server_close()
