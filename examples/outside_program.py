"""A program that answers for an agent. It polls the agent's wakes, reads the messages, and answers each one.

    ATELIER_URL=https://atelier.example.com ATELIER_TOKEN=atl_… python examples/outside_program.py

The token is made on the page of the agent, under Access. There the agent is also set to be answered by an outside program.
"""

import json
import os
import time
import uuid
from typing import Any
from urllib.request import Request, urlopen  # noqa: TID251 -- a program of its own

URL = os.environ["ATELIER_URL"].rstrip("/")
TOKEN = os.environ["ATELIER_TOKEN"]
MAX_CHARACTERS = 20_000  # a longer answer could be refused, and its wake would stay the first in the list
SECONDS = float(os.environ.get("ATELIER_POLL_SECONDS", "2"))


def call(method: str, path: str, body: object = None) -> dict[str, Any]:
    """Send a request as the agent, and return the JSON of the response."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urlopen(Request(f"{URL}/api/v1/{path}", data, headers, method=method), timeout=30) as response:
        answered: dict[str, Any] = json.load(response)
    return answered


def answer(wake: dict[str, Any]) -> None:
    """Answer the message of a wake, and move the agent's read cursor past it. Doing it twice posts one answer."""
    chat, [message_id] = wake["chat_id"], wake["message_ids"]
    page = call("GET", f"chats/{chat}/messages?around={message_id}&limit=1")
    [message] = page["results"]
    payload = message["payload"]
    text = f"You wrote: {payload.get('text') or payload.get('name') or '(nothing)'}"[:MAX_CHARACTERS]
    if wake["why"] in ("hand", "schedule"):  # a system message, with the instructions of the schedule
        text = f"I looked again. {payload.get('text') or ''}".strip()
    id = str(uuid.uuid5(uuid.UUID(wake["id"]), "answer"))
    if wake["why"] != "added":  # nobody has written to it yet
        call("POST", f"chats/{chat}/messages", {"id": id, "text": text, "reply_to": message_id})
    call("PUT", f"chats/{chat}/read", {"seq": message["seq"]})


if __name__ == "__main__":
    print("Answering as", call("GET", "agents/me")["actor"]["name"], flush=True)  # noqa: T201
    while True:
        try:
            for wake in call("GET", "agents/me/wakes")["results"]:
                answer(wake)
        except OSError as error:  # the server restarts, or a limit was reached
            print("Trying again:", error, flush=True)  # noqa: T201
        time.sleep(SECONDS)
