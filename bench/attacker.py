"""The clients of an attacker, in a process of their own, because in reality they are on another machine and use none of the
server's CPU. `python -m bench.attacker URL` reads requests as JSON from its standard input and repeats them; at SIGTERM it
prints how often each status was returned.
"""

import asyncio
import json
import signal
import sys
from collections import Counter
from typing import Any

import aiohttp

from common.ids import new_id


async def repeat_request(session: aiohttp.ClientSession, request: dict[str, Any], statuses: Counter[str]) -> None:
    while True:
        body = request["body"] and (request["body"] | ({"id": str(new_id())} if "text" in request["body"] else {}))
        try:
            async with session.request(
                request["method"], request["path"], json=body, headers=request["headers"]
            ) as answer:
                await answer.read()
                statuses[str(answer.status)] += 1
        except (aiohttp.ClientError, TimeoutError, OSError):
            statuses["none"] += 1
        await asyncio.sleep(request["pause"])


async def main(url: str, requests: list[dict[str, Any]]) -> None:
    statuses: Counter[str] = Counter()
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(url, connector=connector, timeout=aiohttp.ClientTimeout(60)) as session:
        tasks = [asyncio.create_task(repeat_request(session, request, statuses)) for request in requests]
        await stopped.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    print(json.dumps(statuses), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.load(sys.stdin)))
