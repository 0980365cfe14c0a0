"""A whole round by HTTP: make a chat with an agent, ask it, wait for its answer, and print the answer with its cost.

ATELIER_URL=https://atelier.example.com ATELIER_TOKEN=atl_… python examples/round.py <workspace id> <handle> "What is new?"
"""

import json
import os
import sys
import uuid
from typing import Any
from urllib.request import Request, urlopen  # noqa: TID251 -- a program of its own


def call(method: str, path: str, body: object = None) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {os.environ['ATELIER_TOKEN']}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    url = f"{os.environ['ATELIER_URL']}/api/v1/{path}"
    with urlopen(Request(url, data, headers, method=method), timeout=60) as response:
        return json.loads(response.read() or b"{}")  # type: ignore[no-any-return]


workspace, handle, question = sys.argv[1:4]
agents = call("GET", f"workspaces/{workspace}/agents")["results"]
agent_id = next(agent["actor"]["id"] for agent in agents if agent["actor"]["handle"] == handle)
chat_id = call("POST", f"workspaces/{workspace}/chats", {"title": "A round", "actor_ids": [agent_id]})["chat"]["id"]
version = call("GET", f"chats/{chat_id}/changes")["version"]
asked = call("POST", f"chats/{chat_id}/messages", {"id": str(uuid.uuid4()), "text": f"@{handle} {question}"})
state = "queued"  # of the run that the message has woken
while state not in ("completed", "failed", "stopped"):
    changes = call("GET", f"chats/{chat_id}/changes?since={version}&wait=30")  # empty if nothing has changed
    version = changes.get("version", version)
    for row in changes.get("rows", []):
        if row["kind"] == "run" and row["trigger_id"] == asked["id"]:
            state = row["state"]
            if row["error"]:
                print("No answer:", row["error"])  # noqa: T201
        if row["kind"] == "message" and row["payload"].get("answers") == asked["id"]:
            cost = (row["payload"].get("stamp") or {}).get("cost_micro")  # millionths of a dollar
            print(row["payload"].get("text"), f"(${(cost or 0) / 1_000_000:.6f})")  # noqa: T201
