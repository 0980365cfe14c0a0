"""`python -m config.serve`: the web process. HOST and PORT say where, unless the launcher passes an open socket."""

import os
import socket

import uvicorn

# A message of a client is small; a larger one is refused before it is read (guarantees, trap 7).
MAX_SOCKET_MESSAGE = 64 * 1024


def configuration() -> uvicorn.Config:
    """How uvicorn serves us, everywhere."""
    return uvicorn.Config(
        "config.asgi:application",
        host=os.environ.get("HOST", "127.0.0.1"),
        port=int(os.environ.get("PORT", "8000")),
        loop="uvloop",
        http="httptools",
        lifespan="on",
        interface="asgi3",
        access_log=False,
        log_config=None,
        server_header=False,
        # Only a proxy that the operator names may say who the client is.
        proxy_headers=bool(os.environ.get("FORWARDED_ALLOW_IPS")),
        ws_max_size=MAX_SOCKET_MESSAGE,
        # One frame goes to a thousand sockets: each would be packed apart, and every socket would keep 300 kB for it.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=10,
        backlog=2048,
    )


def main() -> None:
    """Serve until SIGTERM; then finish what has begun."""
    server = uvicorn.Server(configuration())
    inherited = os.environ.pop("ATELIER_SOCKET", "")
    server.run(sockets=[socket.socket(fileno=int(inherited))] if inherited else None)


if __name__ == "__main__":
    main()
