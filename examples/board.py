"""A program that plans three tasks for agents of a chat, follows them, tries again what failed, and prints results and cost.

    ATELIER_URL=https://atelier.example.com ATELIER_TOKEN=atl_… ATELIER_CHAT=<id> \\
        python examples/board.py "Four days in Kyoto for six people" weather finance travel

The token is that of a person who may post in the chat (Settings → API tokens). The last three arguments are handles of agents in
the chat. The first two work at the same time, and the third reads their results.
"""

import json
import os
import sys
import time
import uuid
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen  # noqa: TID251 -- a program of its own

URL = os.environ["ATELIER_URL"].rstrip("/")
TOKEN = os.environ["ATELIER_TOKEN"]
CHAT = os.environ["ATELIER_CHAT"]
SECONDS = float(os.environ.get("ATELIER_POLL_SECONDS", "2"))


def call(method: str, path: str, body: object = None) -> dict[str, Any]:
    """Send a request, and return the JSON of the response. Raises `HTTPError`, whose body says what is wrong."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{URL}/api/v1/{path}", data, headers, method=method), timeout=30) as response:
        answered: dict[str, Any] = json.load(response)
    return answered


def say(text: str) -> None:
    print(text, flush=True)  # noqa: T201


def create_board(request: str, agents: list[dict[str, Any]]) -> str:
    """Start a board of three tasks, and return its id. Sending it again with the same id would start no second one."""
    ids = [agent["id"] for agent in agents]
    estimate = call("POST", f"chats/{CHAT}/boards/estimate", {"agent_ids": ids})["estimate_micro"]
    say(f"Estimate: {'unknown' if estimate is None else format_cost(estimate)}")
    tasks = [
        {"agent_id": ids[0], "description": f"Find out what matters for this: {request}", "max_attempts": 1},
        {"agent_id": ids[1], "description": f"Say what this costs: {request}", "max_attempts": 1},
        # It starts when both have ended, however they did: it reads the result or the error of each.
        {"agent_id": ids[2], "description": f"Propose a plan: {request}", "after": [1, 2], "join": "settled"},
    ]
    body = {"id": str(uuid.uuid4()), "user_input": request, "tasks": tasks, "limit_micro": 5_000_000}
    board_id: str = call("POST", f"chats/{CHAT}/boards", body)["board"]["id"]
    return board_id


def follow(board_id: str) -> dict[str, Any]:
    """Print each change of a board until it has ended, and return it with its tasks. What has failed is tried once more.

    The socket tells changes at once (`docs/realtime.md`): the rows are the same."""
    shown: dict[object, tuple[Any, ...]] = {}
    while True:
        detail = call("GET", f"boards/{board_id}")
        board = detail["board"]
        lines: list[tuple[object, str, tuple[Any, ...]]] = [("Board", "Board", (board["state"], board["pause_reason"]))]
        for task in detail["tasks"]:
            name = f"Task {task['number']}, {task['agent_name']}"
            lines.append((task["number"], name, (task["state"], task["attempt"])))
        for key, name, state in lines:
            if shown.get(key) != state:
                shown[key] = state
                say(f"{name}: {' '.join(str(part) for part in state if part)}")
                if key != "Board" and state == ("failed", 1):
                    retry(board_id, int(str(key)))
        if board["state"] in ("completed", "failed"):
            return detail
        time.sleep(SECONDS)


def retry(board_id: str, number: int) -> None:
    """Try a failed task again. That is refused when others have begun because of its failure, or the board has ended."""
    try:
        call("POST", f"boards/{board_id}/tasks/{number}/retry", {})
        say(f"Trying task {number} again")
    except HTTPError as error:
        if error.code != 409:
            raise
        say(f"Task {number} is not tried again: {json.load(error)['error']['message']}")


def print_results(detail: dict[str, Any]) -> None:
    """Print all results of a board, also those of failed attempts, its answer, and what it has cost."""
    board = detail["board"]
    for result in call("GET", f"boards/{board['id']}/results")["results"]:
        text = result["data"]["text"] if result["success"] else result["error"]
        reused = ", reused" if result["reused_from"] else ""
        say(f"Result {result['number']}.{result['attempt']} of {result['agent_name']}{reused}: {text}")
    say(f"Answer: {board['final_response'] or board['error']}")
    say(f"Cost: {format_cost(board['cost_micro'])}")


def format_cost(micro: int) -> str:
    return f"${micro / 1_000_000:.4f}"


def main(request: str, handles: list[str]) -> None:
    participants = call("GET", f"chats/{CHAT}/participants")["results"]
    present = {row["actor"]["handle"]: row["actor"] for row in participants if row["actor"]["kind"] == "agent"}
    detail = follow(create_board(request, [present[handle] for handle in handles]))
    print_results(detail)
    failed = next((task for task in detail["tasks"] if task["state"] == "failed"), None)
    if failed is not None:
        # From there again: a new board, which reuses the results of the tasks that do not follow this one.
        say(f"Running again from task {failed['number']}")
        body = {"id": str(uuid.uuid4()), "number": failed["number"]}
        body["description"] = f"{failed['description']}\nA rough sum is enough."
        print_results(follow(call("POST", f"boards/{detail['board']['id']}/fork", body)["board"]["id"]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:5])
