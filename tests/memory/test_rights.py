"""Nothing that an agent remembers crosses a right: random scripts of posts, joins, leaves, notes and runs in several chats."""

import random
import re
from uuid import UUID

import pytest
from django.db import transaction

from actors.models import Actor
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from events.rows import NoteScope
from memory import services as memory
from memory.models import HistoryEntry, MemoryUse, Note
from memory.selectors import build_history_rows, list_history, list_notes
from runs.models import Run
from tests.chaos import examples
from tests.factories.agents import add_tool_use, change_spec
from tests.memory.driver import DrivenRun, Driver
from tests.people import make_agent, make_person
from workspaces import services as workspaces
from workspaces.models import Membership, Workspace

pytestmark = pytest.mark.django_db

SCRIPTS = examples(40)
STEPS = 8
CANARY = re.compile(r"canary\d+x")


class Story:
    """One random script with three chats and one between agents. Each text is a canary. `homes` has the chats that a canary belongs
    to: where it was written, where a search quoted it, and where it was sent; `everywhere` has those of notes for the whole
    workspace. A run may read others only while everybody who reads its chat, and its person, reads one of their homes."""

    def __init__(self, driver: Driver, seed: int, people: list[Actor]) -> None:
        self.driver, self.team = driver, driver.team
        self.random = random.Random(seed)
        self.people = people
        self.homes: dict[str, set[UUID]] = {}
        self.crossed = 0
        self.searched = self.sent = 0
        self.gone: set[str] = set()
        self.copied: set[str] = set()
        self.everywhere: set[str] = set()
        self.pair = driver.open_pair()
        self.chats = [self.open_chat(position) for position in range(3)] + [self.pair]

    def open_chat(self, position: int) -> Chat:
        by, *others = self.random.sample(self.people, self.random.randint(1, 3))
        others += self.random.choice([[], [], [self.driver.writer]])
        return self.driver.open_chat(f"Chat{position}", *others, by=by)

    def list_present(self, chat: Chat) -> list[Actor]:
        """Return the people in a chat, in a fixed order."""
        people = Actor.objects.filter(participants__chat=chat, participants__ended_at=None, kind="human")
        return list(people.order_by("name"))

    def list_editors(self) -> list[Actor]:
        members = Membership.objects.filter(workspace=self.team.workspace, role="editor").select_related("actor")
        return [membership.actor for membership in members.order_by("actor__name")]

    def find_readers(self) -> dict[UUID, set[UUID]]:
        """Return who reads each chat, by its id."""
        readers: dict[UUID, set[UUID]] = {chat.id: set() for chat in self.chats}
        present = ChatActor.objects.filter(chat__in=readers, ended_at=None)
        for chat_id, actor_id in present.values_list("chat_id", "actor_id"):
            readers[chat_id].add(actor_id)
        readers[self.pair.id] |= {person.id for person in self.list_editors()}
        return readers

    def make_canary(self, chat: Chat) -> str:
        canary = f"canary{len(self.homes)}x"
        self.homes[canary] = {chat.id}
        return canary

    def play(self) -> None:
        for _ in range(STEPS):
            actions = [self.run] * 6
            actions += [self.join, self.leave, self.change_role, self.forget, self.delete, self.set_memory_scope]
            actions += [self.write_note, self.widen]
            self.random.choice(actions)(self.random.choice(self.chats))
        self.check_people()

    def run(self, chat: Chat) -> None:
        people = self.list_present(chat) if chat != self.pair else self.people
        if not people:
            return
        Run.objects.filter(state="queued").delete()  # those of Writer
        self.driver.post(chat, self.make_canary(chat), by=self.random.choice(people))
        run = self.driver.claim(chat)
        if run is None:
            return  # one of the limits of loops between agents
        self.check(chat, run)
        for _ in range(self.random.randint(0, 2)):
            self.random.choice([self.remember, self.search, self.send, self.join_meanwhile, self.retry])(chat, run)
            self.check(chat, run)
        run.answer(self.make_canary(chat))

    def check(self, chat: Chat, run: DrivenRun) -> None:
        found = set(CANARY.findall(run.context)) - self.everywhere
        readers = self.find_readers()
        present = readers[chat.id] | {run.run.on_behalf_of_id}
        readable = {id for id, others in readers.items() if present <= others} | {chat.id}
        leaked = [canary for canary in found if not self.homes[canary] & readable]
        assert not leaked, f"{leaked} in {chat}"
        self.crossed += sum(chat.id not in self.homes[canary] for canary in found)
        assert not found & self.gone

    def check_people(self) -> None:
        """Check the notes and the history that a person reads."""
        person = self.random.choice(self.people)
        rows = build_history_rows(person, list_history(person, self.team.robin.id))
        texts = [turn.text + turn.result for row in rows for turn in row.turns]
        texts += list_notes(person, self.team.robin.id).values_list("text", flat=True)
        readable = {id for id, others in self.find_readers().items() if person.id in others}
        found = set(CANARY.findall(" ".join(texts))) - self.everywhere
        leaked = [canary for canary in found if not self.homes[canary] & readable]
        assert not leaked, f"{leaked} are read by {person}"

    def remember(self, chat: Chat, run: DrivenRun) -> None:
        run.call("remember", text=self.make_canary(chat))

    def search(self, chat: Chat, run: DrivenRun) -> None:
        result = run.call("search_history", query="canary", scope="my_chats", limit=20)
        found = set(CANARY.findall(result))
        self.searched += sum(chat.id not in self.homes[canary] for canary in found)
        self.check(chat, run)
        for canary in found:
            self.homes[canary].add(chat.id)
        self.copied |= found

    def send(self, chat: Chat, run: DrivenRun) -> None:
        other = self.random.choice([one for one in self.chats if one != chat])
        canary = self.make_canary(chat)
        result = run.call("send_message", chat_id=str(other.id), text=canary)
        if result.startswith("Sent"):
            readers = self.find_readers()
            assert readers[other.id] <= readers[chat.id]
            self.homes[canary].add(other.id)
            self.copied.add(canary)
            self.sent += 1
        else:
            assert not Message.objects.filter(chat=other, payload__text=canary).exists()

    def join_meanwhile(self, chat: Chat, run: DrivenRun) -> None:
        self.join(chat)
        self.change_role(chat)
        self.remember(chat, run)

    def retry(self, chat: Chat, run: DrivenRun) -> None:
        self.join(chat)
        run.retry()

    def join(self, chat: Chat) -> None:
        present = self.list_present(chat)
        absent = [person for person in self.people if person not in present]
        if present and absent:
            chats.add_participant(self.random.choice(present), chat.id, self.random.choice(absent).id)

    def leave(self, chat: Chat) -> None:
        present = self.list_present(chat)
        if len(present) > 1:
            by, leaver = self.random.sample(present, 2)
            self.driver.leave(chat, leaver, by=by)

    def change_role(self, chat: Chat) -> None:
        person = self.random.choice(self.people)
        if person != self.team.alice:
            role = self.random.choice(["editor", "suggester"])
            workspaces.change_role(self.team.alice, self.team.workspace.id, person.id, role=role)

    def write_note(self, chat: Chat) -> None:
        """An editor writes a note for a chat that they read, or for the whole workspace."""
        person = self.random.choice(self.list_editors())
        if person.id in self.find_readers()[chat.id]:
            memory.create_note(person, self.team.robin.id, text=self.make_canary(chat), chat_id=chat.id)
        elif self.random.random() < 0.2:
            canary = self.make_canary(chat)
            self.everywhere.add(canary)
            memory.create_note(person, self.team.robin.id, text=canary)

    def choose_note(self, chat: Chat) -> tuple[Actor, Note] | None:
        """Choose an editor who reads this chat, and a note that was learnt in it."""
        readers = self.find_readers()[chat.id]
        editors = [person for person in self.list_editors() if person.id in readers]
        notes = list(Note.objects.filter(chat=chat, forgotten_at=None).order_by("pk"))
        return (self.random.choice(editors), self.random.choice(notes)) if editors and notes else None

    def forget(self, chat: Chat) -> None:
        if chosen := self.choose_note(chat):
            person, note = chosen
            memory.forget_note(person, note.id, revision=note.revision)

    def widen(self, chat: Chat) -> None:
        if self.random.random() < 0.2 and (chosen := self.choose_note(chat)):
            person, note = chosen
            memory.edit_note(person, note.id, revision=note.revision, scope=NoteScope.WORKSPACE)
            self.everywhere.add(note.text)

    def delete(self, chat: Chat) -> None:
        """Delete a message of a person or an answer. What was copied from it, as a result of a search, stays."""
        texts = list(Message.objects.filter(chat=chat, type="TEXT_MESSAGE").order_by("pk"))
        if texts:
            message = self.random.choice(texts)
            self.gone |= set(CANARY.findall(message.text)) - self.copied
            message.delete()

    def set_memory_scope(self, chat: Chat) -> None:
        self.driver.set_memory_scope(self.random.choice(["chat", "agent", "agent"]))
        Workspace.objects.update(context_strategy=self.random.choice(["truncate", "summarise", "retrieve"]))


@pytest.mark.parametrize("part", range(4))
def test_MEM1_no_memory_of_a_chat_is_in_the_context_of_a_run_where_somebody_may_not_read_it(driver, part):
    team = driver.team
    dora = make_person("Dora")
    for person in (team.charlie, dora):
        workspaces.join_workspace(person, team.workspace.id, role="suggester", invited_by=team.alice)
    for tool in ("search_history", "send_message"):
        add_tool_use(driver.spec, tool)
    driver.open_pair()
    crossed = searched = sent = 0
    for seed in range(part, SCRIPTS, 4):
        with transaction.atomic():
            driver.set_memory_scope("agent")
            Workspace.objects.update(context_strategy="retrieve")
            story = Story(driver, seed, [team.alice, team.bob, team.charlie, dora])
            story.play()
            crossed, searched, sent = crossed + story.crossed, searched + story.searched, sent + story.sent
            transaction.set_rollback(True)
    assert crossed > 10, "the scripts must also reach what is allowed"
    assert searched + sent > 0


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
    [withheld] = MemoryUse.objects.get(run_id=run.run.id).withheld
    assert (withheld["notes"], withheld["entries"], withheld["actor_ids"]) == (1, 1, [str(team.alice.id)])
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
    change_spec(robin.current_spec, memory="agent")
    chat = chats.create_chat(team.alice, team.elsewhere.id, title="Elsewhere", actor_ids=[robin.id])
    chats.post_message(team.alice, chat.id, text="@robin What was it?")
    assert "canary" not in driver.claim(chat).context
    assert not list_notes(team.charlie, robin.id).exists()


def test_a_person_reads_the_history_of_their_chats_only(driver):
    team = driver.team
    private = driver.open_chat("Private")
    driver.ask(private, "canary-one").answer()
    driver.ask(team.chat, "tea").answer()
    rows = build_history_rows(team.bob, list_history(team.bob, team.robin.id))
    assert [(row.chat_title, [turn.text for turn in row.turns]) for row in rows] == [("Room", ["@robin tea", "Done."])]
    assert len(build_history_rows(team.alice, list_history(team.alice, team.robin.id))) == 2
