"""Outside programs take part as agents, each as a process of its own against the running product: `examples/outside_program.py`
polls, and `socket_program.py` follows the socket."""

import os
import subprocess
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import httpx
import pytest

from launcher.home import ROOT
from tests.stories.integrator import Integrator

pytestmark = pytest.mark.stack


@pytest.fixture
def echo(stack, model):
    """Alice, Bob, and an agent Echo in a chat with both, for which an outside program answers."""
    alice, bob = Integrator(stack, "Alice"), Integrator(stack, "Bob")
    workspace = alice.ok("POST", "workspaces", {"name": "Lighthouse"})["id"]
    agent = alice.ok(
        "POST", f"workspaces/{workspace}/agents", {"name": "Echo", "template": "scribe", "open_chat": True}
    )
    chat, echo = agent["chat_id"], agent["actor"]["id"]
    link = alice.ok("POST", f"chats/{chat}/links", {"role": "suggester"})["url"]
    bob.ok("POST", f"join/{link.rsplit('/', 1)[1]}")
    alice.ok("PATCH", f"agents/{echo}/access", {"runs_outside": True})
    token = alice.ok("POST", f"agents/{echo}/tokens", {"name": "Bot"})["secret"]
    yield SimpleNamespace(alice=alice, bob=bob, chat=chat, id=echo, token=token, url=stack.url)
    alice.close()
    bob.close()


@contextmanager
def start_program(*command, **variables):
    """Run a program as a process of its own."""
    environment = os.environ | variables
    program = subprocess.Popen([sys.executable, *command], cwd=ROOT, env=environment, stdout=subprocess.PIPE)
    try:
        yield program.stdout
    finally:
        program.kill()
        program.communicate()


def test_the_bot_answers_bobs_question_and_alice_sees_it(echo):
    variables = {"ATELIER_URL": echo.url, "ATELIER_TOKEN": echo.token, "ATELIER_POLL_SECONDS": "0.2"}
    with start_program("examples/outside_program.py", **variables) as output:
        assert output.readline() == b"Answering as Echo\n"
        tab = echo.alice.watch(echo.chat)
        echo.bob.post(echo.chat, "@echo 你好 <b>there</b>")
        answer = tab.wait_for_answer(echo.id, 1)
        assert answer["payload"]["text"] == "You wrote: @echo 你好 <b>there</b>"
        assert answer["run_id"] is None
        # The longest message does not keep the bot from answering the next one.
        echo.bob.post(echo.chat, "@echo " + "x" * 199_990)
        echo.bob.post(echo.chat, "@echo short")
        assert tab.wait_for_answer(echo.id, 3)["payload"]["text"] == "You wrote: @echo short"


def test_a_program_that_follows_the_socket_answers_from_there(echo):
    with start_program("tests/stories/socket_program.py", echo.url, echo.token, echo.chat) as output:
        assert output.readline() == b"Following\n"
        tab = echo.alice.watch(echo.chat)
        echo.bob.post(echo.chat, "not for the program")
        asked = [echo.bob.post(echo.chat, f"@echo number {number}") for number in range(3)]
        tab.wait_for_answer(echo.id, 3)
        answers = tab.list_texts_of(echo.id)
        assert [(row["reply_to"], row["payload"]["text"]) for row in answers] == [
            (row["id"], f"You wrote: @echo number {number}") for number, row in enumerate(asked)
        ]
        # It has read all of them: as a reader sees it, and so that none is a wake any more.
        tab.wait_until(
            lambda tab: (
                [row["last_read_seq"] for row in tab.rows("participant") if row["actor"]["id"] == echo.id]
                == [asked[-1]["seq"]]
            )
        )
    wakes = httpx.get(f"{echo.url}/api/v1/agents/me/wakes", headers={"Authorization": f"Bearer {echo.token}"})
    assert wakes.json()["results"] == []
