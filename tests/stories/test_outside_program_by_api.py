"""An outside program takes part as an agent: `examples/outside_program.py`, as a process of its own against the running product."""

import os
import subprocess
import sys

import pytest

from launcher.home import ROOT
from tests.stories.integrator import Integrator

pytestmark = pytest.mark.stack


def test_the_bot_answers_bobs_question_and_alice_sees_it(stack, model):
    alice, bob = Integrator(stack, "Alice"), Integrator(stack, "Bob")
    workspace = alice.ok("POST", "workspaces", {"name": "Lighthouse"})["id"]
    agent = alice.ok(
        "POST", f"workspaces/{workspace}/agents", {"name": "Echo", "template": "scribe", "open_chat": True}
    )
    chat, echo = agent["chat_id"], agent["actor"]["id"]
    link = alice.ok("POST", f"chats/{chat}/links", {"role": "suggester"})["url"]
    bob.ok("POST", f"join/{link.rsplit('/', 1)[1]}")
    alice.ok("PATCH", f"agents/{echo}/access", {"runs_outside": True})
    token = alice.ok("POST", f"agents/{echo}/tokens", {"name": "Bot"})["text"]
    environment = os.environ | {"ATELIER_URL": stack.url, "ATELIER_TOKEN": token, "ATELIER_POLL_SECONDS": "0.2"}
    bot = subprocess.Popen(
        [sys.executable, "examples/outside_program.py"], cwd=ROOT, env=environment, stdout=subprocess.PIPE
    )
    try:
        assert bot.stdout is not None
        assert bot.stdout.readline() == b"Answering as Echo\n"
        tab = alice.watch(chat)
        bob.post(chat, "@echo 你好 <b>there</b>")
        answer = tab.wait_for_answer(echo, 1)
        assert answer["payload"]["text"] == "You wrote: @echo 你好 <b>there</b>"
        assert answer["run_id"] is None
    finally:
        bot.kill()
        bot.communicate()
        alice.close()
        bob.close()
