"""The clients of an attacker, in a process of their own: on a real installation they are on another
machine, and take none of the server's CPU. `python -m bench.attacker ADDRESS` reads what to ask, again and again, from its
input as JSON; at SIGTERM it prints how often each status came.
"""

import asyncio
import json
import signal
import sys
from collections import Counter
from typing import Any

import aiohttp

from common.ids import new_id


async def ask_again_and_again(session: aiohttp.ClientSession, ask: dict[str, Any], statuses: Counter[str]) -> None:
    while True:
        body = ask["body"] and (ask["body"] | ({"id": str(new_id())} if "text" in ask["body"] else {}))
        try:
            async with session.request(ask["method"], ask["path"], json=body, headers=ask["headers"]) as answer:
                await answer.read()
                statuses[str(answer.status)] += 1
        except (aiohttp.ClientError, TimeoutError, OSError):
            statuses["none"] += 1
        await asyncio.sleep(ask["pause"])


async def main(address: str, asks: list[dict[str, Any]]) -> None:
    statuses: Counter[str] = Counter()
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(address, connector=connector, timeout=aiohttp.ClientTimeout(60)) as session:
        tasks = [asyncio.create_task(ask_again_and_again(session, ask, statuses)) for ask in asks]
        await over.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    print(json.dumps(statuses), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], json.load(sys.stdin)))
