"""Nothing that an agent remembers crosses a right: random scripts of posts, joins, leaves, notes and runs in several chats."""

import random

import pytest
from django.db import transaction

from actors.models import Actor
from agents.models import AgentSpec
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from memory import services as memory
from memory.models import HistoryEntry, MemoryUse, Note
from memory.selectors import build_history_rows, list_history, list_notes
from runs.models import Run
from tests.chaos import examples
from tests.memory.driver import Driver
from tests.people import make_agent
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db

SCRIPTS = examples(40)
STEPS = 12


class Story:
    """One random script. Each text of a chat has a canary of this chat. What a run reads must be allowed at that moment: its own
    chat, and chats that everybody who is present may read."""

    def __init__(self, driver: Driver, seed: int, people: list[Actor]) -> None:
        self.driver, self.team = driver, driver.team
        self.random = random.Random(seed)
        self.people = people
        self.number = 0
        self.seen = 0
        self.gone: set[str] = set()
        self.chats = [
            driver.open_chat(f"Chat{position}", *self.random.sample(people, self.random.randint(0, 2)))
            for position in range(3)
        ]

    def list_present(self, chat: Chat) -> set[Actor]:
        rows = ChatActor.objects.filter(chat=chat, ended_at=None).select_related("actor")
        return {row.actor for row in rows}

    def make_canary(self, chat: Chat) -> str:
        self.number += 1
        return f"canary{self.number}of{self.chats.index(chat)}x"

    def play(self) -> None:
        for _ in range(STEPS):
            chat = self.random.choice(self.chats)
            actions = [self.run, self.run, self.run, self.join, self.leave, self.forget, self.delete, self.set_reach]
            self.random.choice(actions)(chat)

    def run(self, chat: Chat) -> None:
        humans = sorted((actor for actor in self.list_present(chat) if actor.is_human), key=lambda actor: actor.name)
        if not humans:
            return
        run = self.driver.ask(chat, self.make_canary(chat), by=self.random.choice(humans))
        self.check(chat, run.context)
        if self.random.random() < 0.5:
            run.call("remember", text=self.make_canary(chat))
            self.check(chat, run.context)
        if self.random.random() < 0.3:
            self.join(chat)
            run.call("remember", text=self.make_canary(chat))
            self.check(chat, run.context)
        run.answer(self.make_canary(chat))

    def check(self, chat: Chat, context: str) -> None:
        present = self.list_present(chat)
        for position, other in enumerate(self.chats):
            found = [word for word in context.split() if f"of{position}x" in word]
            self.seen += len(found) if other != chat else 0
            if other != chat and found:
                assert present <= self.list_present(other), f"{found[:3]} in Chat{self.chats.index(chat)}"
        assert not [canary for canary in self.gone if canary in context]

    def join(self, chat: Chat) -> None:
        absent = sorted(set(self.people) - self.list_present(chat), key=lambda actor: actor.name)
        if absent:
            chats.add_participant(self.team.alice, chat.id, self.random.choice(absent).id)

    def leave(self, chat: Chat) -> None:
        present = sorted(self.list_present(chat) & set(self.people), key=lambda actor: actor.name)
        if present:
            self.driver.leave(chat, self.random.choice(present))

    def forget(self, chat: Chat) -> None:
        note = Note.objects.filter(chat=chat, forgotten_at=None).order_by("?").first()
        if note is not None:
            memory.forget_note(self.team.alice, note.id, revision=note.revision)

    def delete(self, chat: Chat) -> None:
        """Delete a message of a person or an answer. A note is a text of its own, which people forget."""
        texts = Message.objects.filter(chat=chat, type="TEXT_MESSAGE").order_by("pk")
        if texts:
            message = self.random.choice(list(texts))
            self.gone |= {word for word in message.text.split() if word.startswith("canary")}
            message.delete()

    def set_reach(self, chat: Chat) -> None:
        self.driver.set_reach(self.random.choice(["chat", "agent", "agent"]))


@pytest.mark.parametrize("part", range(4))
def test_MEM1_no_memory_of_a_chat_is_in_the_context_of_a_run_where_somebody_may_not_read_it(driver, part):
    team = driver.team
    workspaces.join_workspace(team.charlie, team.workspace.id, role="suggester", invited_by=team.alice)
    crossed = 0
    for seed in range(part, SCRIPTS, 4):
        with transaction.atomic():
            driver.set_reach("agent")
            story = Story(driver, seed, [team.bob, team.charlie])
            story.play()
            crossed += story.seen
            transaction.set_rollback(True)
    assert crossed > 10, "the scripts must also reach what is allowed"


def test_MEM1_editors_read_a_chat_between_agents_so_only_what_all_of_them_may_read_is_used_there(driver):
    team = driver.team
    pair = driver.open_pair()
    room = driver.open_chat("Room of Bob", driver.writer, by=team.bob)
    run = driver.ask(room, "canary-one", by=team.bob)
    run.call("remember", text="canary-two")
    run.answer()
    run = driver.ask(pair, "What was it?", by=team.bob)
    assert run.run.on_behalf_of == team.bob
    assert "canary" not in run.context
    [kept] = MemoryUse.objects.get(run_id=run.run.id).kept_back
    assert (kept["notes"], kept["entries"], kept["actor_ids"]) == (1, 1, [str(team.alice.id)])
    run.answer()
    chats.add_participant(team.bob, room.id, team.alice.id)
    run = driver.ask(pair, "And now?", by=team.bob)
    assert "canary-one" in run.context
    assert "canary-two" in run.context
    # One more editor, who is not in the room.
    workspaces.join_workspace(team.charlie, team.workspace.id, role="editor", invited_by=team.alice)
    run.call("remember", text="Tea.")
    assert "canary-one" not in run.context


def test_MEM1_what_was_learnt_between_agents_is_used_where_all_people_are_editors(driver):
    team = driver.team
    pair = driver.open_pair()
    run = driver.ask(pair, "canary-one")
    run.call("remember", text="canary-two")
    run.answer()
    private = driver.open_chat("Private")
    run = driver.ask(private, "What was it?")
    assert "canary-one" in run.context
    assert "canary-two" in run.context
    run.answer()
    chats.add_participant(team.alice, private.id, team.bob.id)
    assert "canary-one" not in driver.ask(private, "And now?").prepared.sections[2].text


def test_a_deleted_chat_takes_its_memory_along(driver):
    team = driver.team
    other = driver.open_chat("Other", team.bob)
    run = driver.ask(other, "canary-one")
    run.call("remember", text="canary-two")
    run.answer()
    Run.objects.all().delete()
    Message.objects.filter(chat=other).delete()
    other.delete()
    assert not Note.objects.exists()
    assert not HistoryEntry.objects.exists()
    assert "canary" not in driver.ask(team.chat, "x").context


def test_MEM1_nothing_crosses_workspaces(driver):
    team = driver.team
    run = driver.ask(team.chat, "canary-one")
    run.call("remember", text="canary-two")
    run.answer()
    # The same people in a workspace of the stranger, with an agent of the same name.
    workspaces.join_workspace(team.alice, team.elsewhere.id, role="editor", invited_by=team.charlie)
    robin = make_agent(team.elsewhere, team.charlie, "Robin")
    AgentSpec.objects.filter(agent=robin).update(memory="agent")
    chat = chats.create_chat(team.alice, team.elsewhere.id, title="Elsewhere", actor_ids=[robin.id])
    chats.post_message(team.alice, chat.id, text="@robin What was it?")
    assert "canary" not in driver.claim(chat).context
    assert not list_notes(team.charlie, robin.id).exists()


def test_a_person_reads_the_history_of_their_chats_only(driver):
    team = driver.team
    private = driver.open_chat("Private")
    driver.ask(private, "canary-one").answer()
    driver.ask(team.chat, "tea").answer()
    rows = build_history_rows(list_history(team.bob, team.robin.id))
    assert [(row.chat_title, [turn.text for turn in row.turns]) for row in rows] == [("Room", ["@robin tea", "Done."])]
    assert len(build_history_rows(list_history(team.alice, team.robin.id))) == 2
