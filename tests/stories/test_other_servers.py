"""Servers of a tenant's own that never answer, or answer without measure, beside people who want to work (FAIR2, FAIR5)."""

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
    """Makes a person with a workspace whose model is `name`, and an agent in a chat that answers everything."""
    model.reset()
    people: list[Integrator] = []

    def make(name: str) -> Integrator:
        person = Integrator(stack, name)
        people.append(person)
        person.workspace = person.ok("POST", "workspaces", {"name": f"Of {name}"})["id"]
        person.ok("PUT", f"workspaces/{person.workspace}/model", model_of(model, name) | {"revision": 0})
        made = person.ok("POST", f"workspaces/{person.workspace}/agents", {"name": "Scribe", "open_chat": True})
        person.scribe, person.chat = made["actor"]["id"], made["chat_id"]
        return person

    yield make
    for person in people:
        person.close()


def model_of(model: ScriptedModel, name: str) -> dict[str, Any]:
    return {"provider": "openai_compatible", "api_base": model.api_base, "default_model": name}


def wait(condition: Callable[[], Any], seconds: float = 40) -> Any:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError("It did not come true.")


def answers_of(person: Integrator) -> list[dict[str, Any]]:
    """What the agent said since it said hello."""
    rows = person.ok("GET", f"chats/{person.chat}/messages")["results"]
    said = [row for row in rows if row["type"] == "TEXT_MESSAGE" and row["author_id"] == person.scribe]
    return [row for row in said if not row["payload"].get("greeting")]


def test_FAIR2_tests_of_a_silent_model_keep_nobody_from_working(join, model: ScriptedModel):
    """Nine at once took every web thread and Celery's: now they are all still open when others have been served."""
    model.script(model="silent", mode="nofirst")
    attackers = [join("silent") for _ in range(9)]
    innocent = join("quick")
    tests = []
    for person in attackers:
        body = model_of(model, "silent")
        tests.append((person, person.ok("POST", f"workspaces/{person.workspace}/model/test", body)["id"]))
    wait(lambda: sum(one.body["model"] == "silent" for one in model.requests) == 9)
    for _ in range(20):
        innocent.ok("GET", "me")
    innocent.post(innocent.chat, "hello")
    wait(lambda: answers_of(innocent))
    for person, id in tests:
        assert person.ok("GET", f"workspaces/{person.workspace}/model/test/{id}")["state"] == "running"
    # They come to their end by themselves, and say why.
    done = [wait(partial(_result, person, id)) for person, id in tests]
    assert {(one["ok"], one["code"]) for one in done} == {(False, "timeout_first")}


def _result(person: Integrator, id: str) -> Any:
    test = person.ok("GET", f"workspaces/{person.workspace}/model/test/{id}")
    return test if test["state"] == "done" else None


def test_FAIR5_an_answer_of_seven_megabytes_costs_its_worker_what_is_stored(join, stack: Stack, model: ScriptedModel):
    hostile, innocent = join("hostile"), join("quick")
    innocent.post(innocent.chat, "warm up")
    wait(lambda: answers_of(innocent))
    worker = worker_of(stack)
    handles = " ".join(f"@h{number:06}" for number in range(780_000))
    model.script(model="hostile", tokens=[handles[at : at + 100_000] for at in range(0, len(handles), 100_000)])
    before = peak(worker)
    hostile.post(hostile.chat, "begin")
    innocent.post(innocent.chat, "meanwhile")
    wait(lambda: len(answers_of(innocent)) == 2)
    [said] = wait(lambda: answers_of(hostile))
    assert (len(said["payload"]["text"]), said["payload"]["incomplete"]) == (200_000, True)
    [run] = hostile.ok("GET", f"chats/{hostile.chat}/runs?state=all")["results"]
    assert (run["state"], run["attempt"]) == ("completed", 1)
    assert peak(worker) - before < 50 * MiB


def worker_of(stack: Stack) -> int:
    """The process id of the installation's worker."""
    assert stack.launcher is not None
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        command = path.read_bytes().split(b"\0")
        if b"celery" in command and str(stack.home).encode() in (path.parent / "environ").read_bytes():
            return int(path.parent.name)
    raise AssertionError("There is no worker.")


def peak(pid: int) -> int:
    """The most memory that this process has had, in bytes."""
    return int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[0]) * 1024
