"""RUN7: PostgreSQL is killed and restarted under load: no acknowledged message is lost, and no crash is counted."""

import os
import signal
import threading
import time
from collections.abc import Iterator

import httpx
import pytest

from common.ids import new_id
from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.integrator import Integrator

pytestmark = pytest.mark.stack

ROOMS = 4


class Poster(threading.Thread):
    """Posts one message after another; each again with the same id if the status is 503 (MSG1)."""

    def __init__(self, who: Integrator, chat: str) -> None:
        super().__init__(daemon=True)
        self.http = httpx.Client(base_url=who.stack.url, headers=who.http.headers, timeout=40)
        self.path = f"/api/v1/chats/{chat}/messages"
        self.acknowledged: list[str] = []
        self.refusals: list[httpx.Response] = []
        self.oddities: list[str] = []
        self.over = threading.Event()
        self.last_success = 0.0

    def run(self) -> None:
        with self.http:
            self._post()

    def _post(self) -> None:
        while not self.over.is_set():
            body = {"id": str(new_id()), "text": "still here"}
            while not self._is_accepted(body):
                time.sleep(0.2)
            self.acknowledged.append(body["id"])
            self.last_success = time.monotonic()
            time.sleep(0.05)

    def _is_accepted(self, body: dict[str, str]) -> bool:
        answer = self.http.post(self.path, json=body)
        if answer.status_code == 503:
            self.refusals.append(answer)
        elif answer.status_code >= 300:
            self.oddities.append(f"{answer.status_code} {answer.text[:200]}")
        return answer.status_code < 300


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


@pytest.fixture
def stack(model: ScriptedModel) -> Iterator[Stack]:
    # The lease is longer than the restart, also if PostgreSQL recovers slowly.
    with Stack(is_migrated=True, ATELIER_ALLOW_PRIVATE_HOSTS=model.host, RUN_LEASE="20") as stack:
        yield stack


def create_chats(alice: Integrator, model: ScriptedModel) -> list[str]:
    """Create an agent with a tool, and a chat for each of its runs."""
    workspace = alice.ok("POST", "workspaces", {"name": "Lighthouse"})["id"]
    endpoint = {"provider": "openai_compatible", "api_base": model.api_base, "default_model": "scripted"}
    alice.ok("PUT", f"workspaces/{workspace}/model", endpoint | {"revision": 0, "key": "sk-none"})
    body = {"name": "Scribe", "template": "scribe", "prompt": "Be brief.", "tools": ["current_time"]}
    alice.scribe = alice.ok("POST", f"workspaces/{workspace}/agents", body)["actor"]["id"]
    body = {"title": "ChatContext", "actor_ids": [alice.scribe]}
    return [alice.ok("POST", f"workspaces/{workspace}/chats", body)["chat"]["id"] for _ in range(ROOMS)]


def is_answered(tab, agent: str) -> bool:
    """Return whether the last message of the chat is from the agent, and none of its runs failed."""
    messages = tab.messages("TEXT_MESSAGE", "RUN_FAILED")
    return bool(messages) and messages[-1]["author_id"] == agent and messages[-1]["type"] == "TEXT_MESSAGE"


def test_RUN7_postgres_is_restarted_under_load_and_no_acknowledged_message_is_lost(stack, model):
    alice = Integrator(stack, "Alice")
    long, *busy = create_chats(alice, model)
    model.script(text="Heard you.", every=0.1)
    model.script(match="tell", text="word " * 60, every=0.15, times=1)
    tabs = [alice.watch(chat) for chat in (long, *busy)]
    alice.post(long, "tell me everything")
    speakers = [Poster(alice, chat) for chat in busy]
    for speaker in speakers:
        speaker.start()
    tabs[1].wait_for_answer(alice.scribe, 2)

    os.kill(stack.processes()["postgres"], signal.SIGQUIT)
    struck = time.monotonic()
    for speaker in speakers:
        while speaker.last_success < struck + 0.5:
            if time.monotonic() > struck + 60:
                raise TimeoutError(stack.log[-5000:])
            time.sleep(0.05)
    time.sleep(2)
    for speaker in speakers:
        speaker.over.set()
        speaker.join(20)
    for tab in tabs:
        try:
            tab.wait_until(lambda t: is_answered(t, alice.scribe), 120)
        except TimeoutError as error:
            runs = [(row["state"], row["attempt"], row["retry_at"]) for row in tab.rows("run")]
            raise TimeoutError(f"No answer. Runs: {runs}\n{stack.log[-8000:]}") from error

    assert [speaker.oddities for speaker in speakers] == [[] for _ in speakers]
    for refusal in (refusal for speaker in speakers for refusal in speaker.refusals):
        assert refusal.headers["Retry-After"]
        assert refusal.json()["error"]["code"] == "unavailable"
    # The sockets stayed open and got all rows and all chunks of the long answer.
    for tab, speaker in zip(tabs[1:], speakers, strict=True):
        assert tab.thread.is_alive()
        shown = [row["id"] for row in tab.messages("TEXT_MESSAGE")]
        assert set(speaker.acknowledged) <= set(shown)
        assert len(shown) == len(set(shown))
        assert not tab.messages("RUN_FAILED")
    assert [row["attempt"] for row in tabs[0].rows("run")] == [1]
    assert "Runs were reclaimed" not in stack.log
    alice.close()
