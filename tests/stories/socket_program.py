"""A program that answers for an agent, and learns from the socket `/ws/` what is written in a chat of the agent. It polls nothing.

`test_outside_program_by_api.py` starts it as a process of its own, with the URL, the token of the agent, and the id of the chat.
"""

import json
import sys
import uuid
from typing import Any

import httpx
from websockets.sync.client import connect

url, token, chat = sys.argv[1:]
headers = {"Authorization": f"Bearer {token}"}
http = httpx.Client(base_url=f"{url}/api/v1/", headers=headers, timeout=30)


def answer(message: dict[str, Any], agent: str) -> None:
    """Answer a message that mentions the agent, and move the read cursor of the agent past it."""
    if message["type"] == "TEXT_MESSAGE" and agent in message["payload"]["mentions"]:
        id = str(uuid.uuid5(uuid.UUID(message["id"]), "answer"))  # a message that arrives twice is answered once
        body = {"id": id, "text": f"You wrote: {message['payload']['text']}", "reply_to": message["id"]}
        http.post(f"chats/{chat}/messages", json=body).raise_for_status()
        http.put(f"chats/{chat}/read", json={"seq": message["seq"]}).raise_for_status()


def follow(agent: str) -> None:
    with connect(url.replace("http", "ws") + "/ws/", additional_headers=headers, max_size=None) as socket:
        socket.send(json.dumps({"type": "subscribe", "topic": f"chat:{chat}", "since": None}))
        for text in socket:
            frame = json.loads(text)
            if frame["type"] == "subscribed":
                print("Following", flush=True)  # noqa: T201
            elif frame["type"] == "changes":
                for row in frame["rows"]:
                    if row["kind"] == "message" and row["author_id"] != agent:
                        answer(row, agent)


follow(http.get("agents/me").raise_for_status().json()["actor"]["id"])
