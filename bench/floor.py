"""The floor: the fastest client that we know, aiohttp on uvloop, reads the model directly.

`python -m bench.floor BASE ROUNDS AT_ONCE`. It is a process of its own, so that its CPU can be measured. It parses each event, as
any client must.
"""

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field

import aiohttp
import uvloop

BODY = {"model": "scripted", "stream": True, "messages": [{"role": "user", "content": "hello"}]}


@dataclass
class Floor:
    """`first` and `whole`: seconds from each request to its first token and to its end; `cpu` seconds of the reader."""

    first: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    tokens: int = 0
    cpu: float = 0.0

    @property
    def cpu_per_token(self) -> float:
        return self.cpu / max(1, self.tokens)


def measure(base: str, *, rounds: int, at_once: int) -> Floor:
    """Measure the floor: `at_once` concurrent requests, `rounds` times."""
    command = [sys.executable, "-m", "bench.floor", base, str(rounds), str(at_once)]
    return Floor(**json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout))


async def read_answer(session: aiohttp.ClientSession, base: str, floor: Floor) -> None:
    """Read one answer to its end."""
    began, came, rest = time.perf_counter(), 0, b""
    async with session.post(f"{base}/chat/completions", json=BODY) as response:
        async for data in response.content.iter_any():
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if line.startswith(b"data: {") and get_token(line):
                    came += 1
                    if came == 1:
                        floor.first.append(time.perf_counter() - began)
    floor.tokens += came
    floor.whole.append(time.perf_counter() - began)


def get_token(line: bytes) -> str:
    """Return the token of an event; the empty string if it has none."""
    choices = json.loads(line[6:])["choices"]
    return choices[0]["delta"].get("content", "") if choices else ""


async def main(base: str, rounds: int, at_once: int) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=2)) as session:
        await asyncio.gather(*[read_answer(session, base, Floor()) for _ in range(at_once)])  # connections, once
        floor, cpu = Floor(), time.process_time()
        for _ in range(rounds):
            await asyncio.gather(*[read_answer(session, base, floor) for _ in range(at_once)])
        floor.cpu = time.process_time() - cpu
    print(json.dumps(asdict(floor)))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
