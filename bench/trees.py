"""P11: agents that give each other tasks, on three levels."""

import asyncio
import json
import re
import time

import aiohttp
import uvloop

from bench.installation import ANSWER_TIMEOUT_SECONDS, Installation, build_session
from bench.model import TREE_PATHS, build_tree_prompt
from bench.results import Figure, Table, format_ms, get_percentile
from common.ids import new_id

ENDED_RUN = re.compile(r'"kind":"run"[^{}]*"state":"completed"')
SHAPES = [(5, 5, 0.1), (10, 0, 0.1), (5, 5, 1)]
"""The tasks that the first agent gives, those that each of these agents gives, and the seconds of each answer. Models take seconds;
with a tenth of one, the work of the product is seen."""


def make_agents(installation: Installation, shape: tuple[int, int], seconds: float) -> str:
    """Create a workspace with an agent for each level, and return the id of a chat with the first."""
    alice, bob = installation.alice, installation.bob
    workspace = alice.ok("POST", "workspaces", {"name": "Trees"})["id"]
    base = f"http://{installation.model.host}/{TREE_PATHS[seconds]}"
    model = {"provider": "openai_compatible", "api_base": base, "default_model": "scripted", "revision": 0}
    alice.ok("PUT", f"workspaces/{workspace}/model", model | {"key": "sk-bench"})
    levels = ["level-0", "level-1", "level-2"]
    first = ""
    for level, tasks in zip(levels, [*shape, 0], strict=True):
        called = levels[levels.index(level) + 1] if tasks else ""
        tools = [{"tool": "delegate", "custom_config": {"allowed_sub_agents": [called]}}] if called else []
        prompt = build_tree_prompt(tasks, called)
        file = {"atelier": "agent/1", "name": level, "handle": level, "prompt": prompt, "tools": tools}
        made = alice.ok("POST", f"workspaces/{workspace}/agents/import", {"text": json.dumps(file)})
        first = first or made["agent"]["actor"]["id"]
    chat: str = alice.ok("POST", f"workspaces/{workspace}/chats", {"title": "Tree", "actor_ids": [first]})["chat"]["id"]
    link = alice.ok("POST", f"chats/{chat}/links", {"role": "suggester"})["url"]
    bob.ok("POST", f"join/{link.rsplit('/', 1)[1]}")
    return chat


async def run_trees(installation: Installation, chat: str, runs: int, count: int) -> list[float]:
    """Post a message `count` times, and return the seconds until another member's socket has seen the end of all its runs."""
    times: list[float] = []
    async with build_session(installation.alice) as poster, build_session(installation.bob) as reader:
        async with reader.ws_connect("/ws/", max_msg_size=0) as socket:
            await socket.send_json({"type": "subscribe", "topic": f"chat:{chat}", "since": None})
            await wait_for(socket, re.compile('^{"type":"subscribed"'), 1)
            for _ in range(count):
                began = time.perf_counter()
                body = {"id": str(new_id()), "text": "@level-0 go"}
                async with poster.post(f"/api/v1/chats/{chat}/messages", json=body) as answer:
                    answer.raise_for_status()
                await wait_for(socket, ENDED_RUN, runs)
                times.append(time.perf_counter() - began)
    return times


async def wait_for(socket: aiohttp.ClientWebSocketResponse, pattern: re.Pattern[str], count: int) -> None:
    """Read frames until the pattern was found so often. Raises `TimeoutError`."""
    async with asyncio.timeout(ANSWER_TIMEOUT_SECONDS):
        while count > 0:
            count -= len(pattern.findall(await socket.receive_str()))


def measure_p11(installation: Installation, quick: bool) -> Table:
    """Measure trees of tasks."""
    count = 2 if quick else 10
    figures: list[Figure] = []
    for tasks, below, seconds in SHAPES:
        runs = 1 + tasks + tasks * below
        floor = seconds * (5 if below else 3)
        chat = make_agents(installation, (tasks, below), seconds)
        uvloop.run(run_trees(installation, chat, runs, 1))  # warm
        meter = installation.start_meter()
        times = uvloop.run(run_trees(installation, chat, runs, count))
        cpu = meter.format_per_unit(count * runs)
        for part, name in ((0.5, "p50"), (0.95, "p95")):
            ours = get_percentile(times, part)
            ratio = f"{ours / floor:.2f}"
            shape = f"1 → {tasks} → {tasks * below}" if below else f"1 → {tasks}"
            answer = f"answers of {format_ms(seconds)}"
            goal = "≤ × 1.5" if part == 0.5 and seconds < 1 else "–"
            figures.append(
                Figure(
                    f"{shape}, {runs} runs, {answer}, {name}",
                    format_ms(floor),
                    format_ms(ours),
                    ratio,
                    f"per run: {cpu}",
                    goal,
                )
            )
    how = f"{count} messages, each after the tree before; the floor is the critical path of the model's answers."
    return Table("P11", "Agents that give each other tasks", how, figures)
