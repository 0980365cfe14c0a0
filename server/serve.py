"""`python -m server.serve`: the web process. It listens on HOST and PORT, or on the open socket of the launcher."""

import os
import resource
import socket

import uvicorn

from server import limits
from server.protocols import BoundedHttp, BoundedSocket


def build_config() -> uvicorn.Config:
    """Return the configuration of uvicorn, for production and tests."""
    return uvicorn.Config(
        "config.asgi:application",
        host=os.environ.get("HOST", "127.0.0.1"),
        port=int(os.environ.get("PORT", "8000")),
        loop="uvloop",
        http=BoundedHttp,
        ws=BoundedSocket,
        lifespan="on",
        interface="asgi3",
        access_log=False,
        log_config=None,
        server_header=False,
        # Only a proxy that the operator names may say who the client is.
        proxy_headers=bool(os.environ.get("FORWARDED_ALLOW_IPS")),
        # A frame of a client is small; a larger one is refused before it is read.
        ws_max_size=limits.MAX_FRAME_BYTES,
        # A frame may go to a thousand sockets, each of which would compress it again and keep 300 kB of state.
        ws_per_message_deflate=False,
        timeout_keep_alive=limits.IDLE_CONNECTION_SECONDS,
        timeout_graceful_shutdown=10,
        backlog=2048,
    )


def main() -> None:
    """Serve until SIGTERM, then finish the active requests."""
    raise_file_limit()
    server = uvicorn.Server(build_config())
    inherited = os.environ.pop("ATELIER_SOCKET", "")
    server.run(sockets=[socket.socket(fileno=int(inherited))] if inherited else None)


def raise_file_limit() -> None:
    """Raise the limit of open files, because each socket is one and many systems allow 1,024 by default."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * limits.MAX_SOCKETS_PER_PROCESS
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


if __name__ == "__main__":
    main()
