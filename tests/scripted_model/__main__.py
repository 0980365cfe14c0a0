"""Run the scripted model by itself: `python -m tests.scripted_model --port N [--host H]`."""

import argparse
import asyncio
import sys

import uvloop

from tests.scripted_model.server import serve


async def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.scripted_model")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    runner, url = await serve(options.host, options.port)
    sys.stdout.write(f"{url}\n")
    sys.stdout.flush()
    try:
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


if __name__ == "__main__":
    try:
        uvloop.run(main())
    except KeyboardInterrupt:
        sys.exit(0)
