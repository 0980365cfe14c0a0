"""Model servers of one tenant that never answer, or never stop, do not disturb others (FAIR2, FAIR5)."""

import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.integrator import Integrator

pytestmark = pytest.mark.stack

MiB = 1024 * 1024


@pytest.fixture
def join(stack: Stack, model: ScriptedModel):
    """Return a function that creates a person, a workspace with the model `name`, and an agent that always answers."""
    model.reset()
    people: list[Integrator] = []

    def make(name: str) -> Integrator:
        person = Integrator(stack, name)
        people.append(person)
        person.workspace = person.ok("POST", "workspaces", {"name": f"Of {name}"})["id"]
        person.ok("PUT", f"workspaces/{person.workspace}/model", build_model_body(model, name) | {"revision": 0})
        made = person.ok("POST", f"workspaces/{person.workspace}/agents", {"name": "Scribe", "open_chat": True})
        person.scribe, person.chat = made["actor"]["id"], made["chat_id"]
        return person

    yield make
    for person in people:
        person.close()


def build_model_body(model: ScriptedModel, name: str) -> dict[str, Any]:
    return {"provider": "openai_compatible", "api_base": model.api_base, "default_model": name}


def wait(condition: Callable[[], Any], seconds: float = 40) -> Any:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := condition():
            return found
        time.sleep(0.05)
    raise TimeoutError("It did not come true.")


def list_answers(person: Integrator) -> list[dict[str, Any]]:
    """Return the agent's answers without its greeting."""
    rows = person.ok("GET", f"chats/{person.chat}/messages")["results"]
    texts = [row for row in rows if row["type"] == "TEXT_MESSAGE" and row["author_id"] == person.scribe]
    return [row for row in texts if not row["payload"].get("greeting")]


def test_FAIR2_tests_of_a_silent_model_do_not_delay_other_people(join, model: ScriptedModel):
    """Nine tests at once do not occupy the threads of web or Celery: they are still running when others have been served."""
    model.script(model="silent", mode="nofirst")
    attackers = [join("silent") for _ in range(9)]
    innocent = join("quick")
    tests = []
    for person in attackers:
        body = build_model_body(model, "silent")
        tests.append((person, person.ok("POST", f"workspaces/{person.workspace}/model/test", body)["id"]))
    wait(lambda: sum(one.body["model"] == "silent" for one in model.requests) == 9)
    for _ in range(20):
        innocent.ok("GET", "me")
    innocent.post(innocent.chat, "hello")
    wait(lambda: list_answers(innocent))
    for person, id in tests:
        assert person.ok("GET", f"workspaces/{person.workspace}/model/test/{id}")["state"] == "running"
    # They end by themselves, with a reason.
    done = [wait(partial(find_result, person, id)) for person, id in tests]
    assert {(one["ok"], one["code"]) for one in done} == {(False, "timeout_first")}


def find_result(person: Integrator, id: str) -> Any:
    test = person.ok("GET", f"workspaces/{person.workspace}/model/test/{id}")
    return test if test["state"] == "done" else None


def test_FAIR5_an_answer_of_seven_megabytes_is_cut_at_what_is_stored(join, stack: Stack, model: ScriptedModel):
    hostile, innocent = join("hostile"), join("quick")
    innocent.post(innocent.chat, "warm up")
    wait(lambda: list_answers(innocent))
    worker = find_worker(stack)
    handles = " ".join(f"@h{number:06}" for number in range(780_000))
    model.script(model="hostile", tokens=[handles[at : at + 100_000] for at in range(0, len(handles), 100_000)])
    before = get_peak_memory(worker)
    hostile.post(hostile.chat, "begin")
    innocent.post(innocent.chat, "meanwhile")
    wait(lambda: len(list_answers(innocent)) == 2)
    [answer] = wait(lambda: list_answers(hostile))
    assert (len(answer["payload"]["text"]), answer["payload"]["incomplete"]) == (200_000, True)
    [run] = hostile.ok("GET", f"chats/{hostile.chat}/runs?state=all")["results"]
    assert (run["state"], run["attempt"]) == ("completed", 1)
    assert get_peak_memory(worker) - before < 50 * MiB


def find_worker(stack: Stack) -> int:
    """Return the process id of the installation's worker."""
    assert stack.launcher is not None
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        command = path.read_bytes().split(b"\0")
        if b"celery" in command and str(stack.home).encode() in (path.parent / "environ").read_bytes():
            return int(path.parent.name)
    raise AssertionError("There is no worker.")


def get_peak_memory(pid: int) -> int:
    """Return the peak memory of a process, in bytes."""
    return int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0]) * 1024
