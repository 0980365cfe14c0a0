"""`python -m bench.crowd [--seconds N]`: the latency of one person's posts while 1, 4 or 16 accounts of another workspace read
pages of long messages, four each at a time, from a process at the lowest priority."""

import argparse
import json
import time
from subprocess import PIPE
from typing import Any

from bench.processes import start_module, write_to_stdin
from bench.results import format_ms, get_percentile
from tests.stack import Stack
from tests.stories.integrator import Integrator

ACCOUNTS = (1, 4, 16)
LOOPS = 4


def make_attack(stack: Stack) -> tuple[list[Integrator], str]:
    """Make a workspace of sixteen people with a chat of long messages."""
    people = [Integrator(stack, f"Mallory{number}") for number in range(max(ACCOUNTS))]
    first = people[0]
    workspace = first.ok("POST", "workspaces", {"name": "Crowd"})["id"]
    chat = first.ok("POST", f"workspaces/{workspace}/chats", {"title": "Long", "actor_ids": []})["chat"]["id"]
    link = first.ok("POST", f"chats/{chat}/links", {"role": "suggester"})["url"].rsplit("/", 1)[1]
    for person in people[1:]:
        person.ok("POST", f"join/{link}")
    for _ in range(40):
        first.post(chat, "word " * 15_000, wake="nobody")
    return people, chat


def build_requests(people: list[Integrator], chat: str) -> list[dict[str, Any]]:
    request = {"method": "GET", "path": f"/api/v1/chats/{chat}/messages?limit=200", "body": None, "pause": 0.0}
    keys = [person.http.headers["X-Session-Token"] for person in people]
    return [request | {"headers": {"X-Session-Token": key}} for key in keys for _ in range(LOOPS)]


def measure_posts(person: Integrator, seconds: float) -> list[float]:
    took, ends_at = [], time.perf_counter() + seconds
    while time.perf_counter() < ends_at:
        began = time.perf_counter()
        person.post(person.chat, "hello", wake="nobody")
        took.append(time.perf_counter() - began)
        time.sleep(0.05)  # below the rate limit
    return took


def describe(took: list[float]) -> str:
    return f"{format_ms(get_percentile(took, 0.5))} / {format_ms(max(took))} of {len(took)}"


def main(seconds: float) -> None:
    with Stack(LOG_LEVEL="WARNING") as stack:
        innocent = Integrator(stack, "Alice")
        workspace = innocent.ok("POST", "workspaces", {"name": "Ours"})["id"]
        made = innocent.ok("POST", f"workspaces/{workspace}/chats", {"title": "Ours", "actor_ids": []})
        innocent.chat = made["chat"]["id"]
        people, chat = make_attack(stack)
        print("p50 / max of a POST", flush=True)
        print(f"alone: {describe(measure_posts(innocent, seconds))}", flush=True)
        for accounts in ACCOUNTS:
            attack = start_module("bench.attacker", stack.url, nice=19, stdin=PIPE, stdout=PIPE)
            write_to_stdin(attack, json.dumps(build_requests(people[:accounts], chat)).encode())
            time.sleep(2)
            took = measure_posts(innocent, seconds)
            attack.terminate()
            statuses, _ = attack.communicate(timeout=60)
            print(f"{accounts} accounts: {describe(took)}; {statuses.decode().strip()}", flush=True)
            time.sleep(3)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=6.0)
    main(parser.parse_args().seconds)
