"""MSG5: a snapshot and frames (lost, sent twice, late) give a client the rows of a fresh snapshot, for every service that
changes a chat."""

import ast
import asyncio
import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.models import Actor
from actors.services import update_profile
from agents.models import Draft
from chats import services as chats
from chats.models import Chat
from chats.services import changes
from events.frames import Subscribed, server_frame
from events.publish import publish
from realtime import topic_buffer
from realtime.catchup import catch_up
from realtime.db_executor import run_in_db_thread
from realtime.topic_buffer import TopicBuffer
from realtime.topics import Topic
from tests.chaos import examples
from tests.realtime.recording import Recording
from tests.realtime.store import Store, get_oldest_seq
from tests.realtime.story import STEPS, Story, get_version

ROOT = Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures" / "frames"


def snapshot(chat_id: UUID) -> Any:
    return json.loads(catch_up(chat_id, None).model_dump_json())


def assert_same(store: Store, chat_id: UUID) -> None:
    """Check that the store shows the rows of a fresh snapshot."""
    fresh = snapshot(chat_id)
    other = Store()
    other.apply(fresh)
    assert store.version == fresh["version"]
    assert store.view(get_oldest_seq(fresh)) == other.view(get_oldest_seq(fresh))


@contextmanager
def check_frames(chat: Chat) -> Iterator[Store]:
    """Read a snapshot, run the block, apply its frames, and compare the store with a fresh snapshot."""
    store = Store()
    with Recording(f"chat:{chat.id}") as recording:
        store.apply(snapshot(chat.id))
        yield store
        for envelope in recording.get_received():
            store.apply(json.loads(envelope["text"]))
    assert not store.is_behind
    assert_same(store, chat.id)


@pytest.mark.parametrize("seed", range(3))
def test_MSG5_a_snapshot_and_frames_equal_a_fresh_snapshot(team, seed):
    story, chance = Story(team), random.Random(seed)
    for _ in range(6):
        with check_frames(story.chat):
            for _ in range(10):
                story.do_step(chance.randrange(10**9))


def test_MSG5_a_person_who_joins_by_a_link_is_published_with_their_present_name(team):
    """The person changes their name during the request, which has the old one."""
    _, url = chats.create_link(team.alice, team.chat.id, role="suggester", hours=1)
    with transaction.atomic():
        update_profile(Actor.objects.get(pk=team.charlie.pk), name="Carolus")
    with check_frames(team.chat), transaction.atomic():
        chats.accept_link(team.charlie, url.rsplit("/", 1)[1])


# --- with what a network does -----------------------------------------------------------------------------------


class Subscriber:
    """A client that gets the frames that a buffer sends to a socket."""

    def __init__(self) -> None:
        self.store = Store()
        self.frames: list[dict] = []

    def send_transient(self, texts: tuple[str, ...]) -> None:
        for text in texts:
            self.send(text, transient=True)

    def send(self, text: str, *, transient: bool = False) -> None:
        frame = json.loads(text)
        self.frames.append(frame)
        self.store.apply(frame)
        assert not self.store.is_behind, "the hub let a gap through"


class UnreliableConnection:
    """The buffer of a chat, with a connection that loses, duplicates and delays frames."""

    def __init__(self, chat_id: UUID, recording: Recording) -> None:
        self.chat_id = chat_id
        self.recording = recording
        self.buffer = TopicBuffer(Topic("chat", chat_id), self._read)
        self.late: list[dict] = []

    async def _read(self, topic: Topic, since: int | None) -> Subscribed:
        return await run_in_db_thread(catch_up, topic.id, since)

    async def join(self, reader: Subscriber, since: int | None = None) -> None:
        subscription = self.buffer.subscribe(reader)
        answer = await self.buffer.get_reply(subscription, since)
        subscription.release(answer)
        self.buffer.set_first_version(answer.version)

    async def deliver(self, fault: str) -> None:
        envelopes = await run_in_db_thread(self.recording.get_received)
        brought = {"lost": [], "doubled": envelopes * 2, "late": []}.get(fault, envelopes)
        for envelope in brought:
            self.buffer.add(envelope)
        if fault == "late":
            self.late += envelopes
        elif fault == "fine":
            for envelope in self.late:
                self.buffer.add(envelope)
            self.late = []
        await asyncio.sleep(0)

    async def heartbeat(self) -> None:
        self.buffer.repair_up_to(await run_in_db_thread(get_version, self.chat_id))
        while self.buffer.repair is not None:
            await asyncio.wait([self.buffer.repair])
            if self.buffer.repair is not None and self.buffer.repair.done():
                break


faults = st.sampled_from(["fine", "fine", "lost", "doubled", "late", "returns", "heartbeat"])
scripts = st.lists(st.tuples(st.integers(0, 10**9), faults), min_size=1, max_size=30)
proof = settings(max_examples=examples(25), deadline=None, suppress_health_check=list(HealthCheck))


@dataclass
class Recorded:
    """The frames that a client got, and a snapshot after them; and in the middle, after `newcomer_after` frames, another one."""

    frames: list[dict]
    snapshot: dict
    newcomer_after: int
    newcomer_snapshot: dict


async def run_script(story: Story, script: list[tuple[Callable[[], object], str]]) -> Recorded:
    """One reader stays subscribed, and one unsubscribes and subscribes again with its version (MSG2)."""
    with Recording(f"chat:{story.chat.id}") as recording:
        line, steady, restless = UnreliableConnection(story.chat.id, recording), Subscriber(), Subscriber()
        await line.join(steady)
        await line.join(restless)
        for number, (do_step, fault) in enumerate(script):
            if number == len(script) // 2:
                newcomer = len(steady.frames), await run_in_db_thread(snapshot, story.chat.id)
            await run_in_db_thread(do_step)
            await line.deliver(fault)
            if fault == "returns":
                line.buffer.unsubscribe(restless)
            elif fault == "heartbeat":
                await line.heartbeat()
        line.buffer.unsubscribe(restless)
        await line.join(restless, since=restless.store.version)
        await line.heartbeat()
    for reader in (steady, restless):
        await run_in_db_thread(assert_same, reader.store, story.chat.id)
    return Recorded(steady.frames, await run_in_db_thread(snapshot, story.chat.id), *newcomer)


def assert_newcomer_has_same_rows(recorded: Recorded) -> None:
    """Check that a client that has subscribed in the middle has the rows of the last snapshot."""
    newcomer, fresh = Store(), Store()
    for frame in [recorded.newcomer_snapshot, *recorded.frames[recorded.newcomer_after :]]:
        newcomer.apply(frame)
    fresh.apply(recorded.snapshot)
    oldest = max(get_oldest_seq(recorded.snapshot), get_oldest_seq(recorded.newcomer_snapshot))
    assert newcomer.view(oldest) == fresh.view(oldest)


@proof
@given(script=scripts)
async def test_MSG5_a_client_has_the_present_state_after_random_steps_and_lost_frames(team, monkeypatch, script):
    monkeypatch.setattr(topic_buffer, "OUT_OF_ORDER_WAIT_SECONDS", 0.0)
    story = await run_in_db_thread(Story, team)
    recorded = await run_script(story, [(partial(story.do_step, seed), fault) for seed, fault in script])
    assert_newcomer_has_same_rows(recorded)


# --- nothing that changes a chat is left out --------------------------------------------------------------------


def list_callers_of_save_changes() -> set[str]:
    """Return every function that calls `save_changes`, by module and name."""
    found = set()
    for app in (app.name for app in apps.get_app_configs() if Path(app.path).parent == ROOT):
        for path in (ROOT / app).rglob("*.py"):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found |= {f"{module}.{name}" for name in _callers_in(ast.parse(path.read_text()))}
    return found


def _callers_in(tree: ast.AST) -> set[str]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return {f.name for f in functions if any(isinstance(n, ast.Call) and _is_save_changes(n.func) for n in ast.walk(f))}


def _is_save_changes(called: ast.expr) -> bool:
    return getattr(called, "id", getattr(called, "attr", "")) == "save_changes"


def test_MSG5_every_service_that_changes_a_chat_is_in_the_story(team, monkeypatch):
    """Run random steps until each function that calls `save_changes` was called."""
    called = set()

    def watched(frame, **more):
        caller = sys._getframe(2)
        called.add(f"{caller.f_globals['__name__']}.{caller.f_code.co_name}")
        publish(frame, **more)

    monkeypatch.setattr(changes, "publish", watched)
    missing = list_callers_of_save_changes() - NOT_A_SERVICE
    assert missing
    chance = random.Random(5)
    for _ in range(20):
        # Whoever wrote in the story before may write in this one.
        Draft.objects.update(lock_holder=None, lock_expires_at=None)
        story = Story(team)
        for _ in range(160):
            story.do_step(chance.randrange(10**9))
            if called >= missing:
                return
    assert sorted(missing - called) == []


NOT_A_SERVICE = {
    "chats.services.direct._add_pair",  # in a chat without a subscription yet
    "chats.services.direct._reopen",  # in a direct chat, which the chat of the story is not
    "agents.services.agents.open_first_chat",  # in a chat without a subscription yet
    "runs.kinds.task.claim_siblings",  # the claims of several runs in one transaction
    "runs.services.waiting.queue_callers_of_ended_sub_agents",  # a repair of the sweeper
}


# --- the same for TypeScript ------------------------------------------------------------------------------------

KINDS = {
    "in-order": ["fine"],
    "lost-and-late": ["fine", "lost", "late", "heartbeat"],
    "doubled": ["fine", "doubled"],
    "sub-agents": ["fine"],
    "everything": ["fine", "lost", "doubled", "late", "returns", "heartbeat"],
}


@pytest.mark.skipif(not os.environ.get("WRITE_FIXTURES"), reason="writes tests/fixtures/frames anew")
@pytest.mark.parametrize("name", KINDS)
async def test_write_the_fixtures(team, monkeypatch, name):
    monkeypatch.setattr(topic_buffer, "OUT_OF_ORDER_WAIT_SECONDS", 0.0)
    story, chance = await run_in_db_thread(Story, team), random.Random(name)
    steps: list[Callable[[], object]] = [partial(story.do_step, chance.randrange(10**9)) for _ in range(60)]
    if name == "sub-agents":
        steps = story.list_steps_of_tree()
    recorded = await run_script(story, [(step, chance.choice(KINDS[name])) for step in steps])
    FIXTURES.mkdir(parents=True, exist_ok=True)
    (FIXTURES / f"{name}.json").write_text(
        json.dumps(asdict(recorded), ensure_ascii=False, separators=(",", ":")) + "\n"
    )


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda path: path.stem)
def test_MSG5_the_recorded_frames_equal_their_snapshot(path):
    recorded = Recorded(**json.loads(path.read_text()))
    store, fresh = Store(), Store()
    for frame in recorded.frames:
        store.apply(frame)
    fresh.apply(recorded.snapshot)
    oldest = get_oldest_seq(recorded.snapshot)
    assert store.view(oldest) == fresh.view(oldest)
    assert_newcomer_has_same_rows(recorded)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda path: path.stem)
def test_MSG5_the_recorded_frames_match_the_present_schema(path):
    """Else: `WRITE_FIXTURES=1 pytest tests/realtime/test_proof.py`."""
    recorded = Recorded(**json.loads(path.read_text()))
    for frame in [*recorded.frames, recorded.snapshot, recorded.newcomer_snapshot]:
        assert server_frame.validate_python(frame).model_dump(mode="json") == frame


def test_a_recording_has_a_tree_of_sub_agents_that_a_newcomer_joins():
    recorded = Recorded(**json.loads((FIXTURES / "sub-agents.json").read_text()))
    messages = [row for row in recorded.snapshot["rows"] if row["kind"] == "message" and row["metadata"]]
    first, second = dict.fromkeys(row["run_id"] for row in messages)
    types = {id: [row["type"] for row in messages if row["run_id"] == id] for id in (first, second)}
    assert types[first][:2] == ["TOOL_CALL", "TOOL_RESPONSE"]
    assert {types[first][-1], types[second][-1]} == {"TEXT_MESSAGE"}
    runs = [row for row in recorded.newcomer_snapshot["rows"] if row["kind"] == "run"]
    assert [(row["id"], row["state"]) for row in runs if row["parent_id"]] == [(first, "running"), (second, "queued")]


def test_every_kind_of_recording_and_enough_steps_exist():
    assert len(list(FIXTURES.glob("*.json"))) == len(KINDS)
    assert len(STEPS) > 20
