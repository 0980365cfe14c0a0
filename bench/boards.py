"""P16: a board of 25 tasks in three layers, nine at once."""

import json
import re
import time

import uvloop

from bench.installation import Installation, build_session
from bench.model import TREE_PATHS
from bench.results import Figure, Table, format_ms, get_percentile
from bench.trees import wait_for
from common.ids import new_id

ENDED_BOARD = re.compile(r'"kind":"board","id"[^{}]*"state":"(?:completed|failed)"')
LAYERS = (9, 8, 8)
"""The tasks of each layer. Each follows all of the layer before."""
AT_ONCE = 9


def make_chat(installation: Installation, seconds: float) -> tuple[str, str]:
    """Create a workspace whose model takes so many seconds for each answer. Return the ids of a chat and of its agent."""
    alice = installation.alice
    workspace = alice.ok("POST", "workspaces", {"name": "Boards"})["id"]
    base = f"http://{installation.model.host}/{TREE_PATHS[seconds]}"
    model = {"provider": "openai_compatible", "api_base": base, "default_model": "scripted", "revision": 0}
    alice.ok("PUT", f"workspaces/{workspace}/model", model | {"key": "sk-bench"})
    file = {"atelier": "agent/1", "name": "Worker", "handle": "worker", "prompt": "Do it.", "tools": []}
    made = alice.ok("POST", f"workspaces/{workspace}/agents/import", {"text": json.dumps(file)})
    agent: str = made["agent"]["actor"]["id"]
    chat: str = alice.ok("POST", f"workspaces/{workspace}/chats", {"title": "Board", "actor_ids": [agent]})["chat"][
        "id"
    ]
    return chat, agent


def build_tasks(agent: str) -> list[dict[str, object]]:
    """Return a plan whose tasks follow all tasks of the layer before."""
    tasks: list[dict[str, object]] = []
    before: list[int] = []
    for size in LAYERS:
        numbers = [len(tasks) + place for place in range(1, size + 1)]
        tasks += [{"agent_id": agent, "description": f"Do part {number}", "after": before} for number in numbers]
        before = numbers
    return tasks


async def run_boards(installation: Installation, chat: str, agent: str, count: int) -> list[float]:
    """Start a board `count` times, and return the seconds until a socket has seen its end."""
    times: list[float] = []
    async with build_session(installation.alice) as session, session.ws_connect("/ws/", max_msg_size=0) as socket:
        await socket.send_json({"type": "subscribe", "topic": f"chat:{chat}", "since": None})
        await wait_for(socket, re.compile('^{"type":"subscribed"'), 1)
        for _ in range(count):
            body = {"id": str(new_id()), "user_input": "Go", "tasks": build_tasks(agent), "max_at_once": AT_ONCE}
            began = time.perf_counter()
            async with session.post(f"/api/v1/chats/{chat}/boards", json=body) as answer:
                answer.raise_for_status()
            await wait_for(socket, ENDED_BOARD, 1)
            times.append(time.perf_counter() - began)
    return times


def measure_p16(installation: Installation, quick: bool) -> Table:
    """Measure boards."""
    count = 2 if quick else 10
    figures: list[Figure] = []
    runs = sum(LAYERS) + 1
    for seconds in (1, 0.1):
        floor = seconds * (len(LAYERS) + 1)
        chat, agent = make_chat(installation, seconds)
        uvloop.run(run_boards(installation, chat, agent, 1))  # warm
        meter = installation.start_meter()
        times = uvloop.run(run_boards(installation, chat, agent, count))
        cpu = meter.format_per_unit(count * runs)
        for part, name in ((0.5, "p50"), (0.95, "p95")):
            ours = get_percentile(times, part)
            figures.append(
                Figure(
                    f"{sum(LAYERS)} tasks, {AT_ONCE} at once, answers of {format_ms(seconds)}, {name}",
                    format_ms(floor),
                    format_ms(ours),
                    f"{ours / floor:.2f}",
                    f"per run: {cpu}",
                    "≤ × 1.3" if part == 0.5 and seconds == 1 else "–",
                )
            )
    how = f"{count} boards, one after the other; the floor is the critical path of the model's answers, with that of the board."
    return Table("P16", "A board of tasks in three layers", how, figures)
