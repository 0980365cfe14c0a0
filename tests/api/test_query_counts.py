"""Each list needs the same number of queries for two rows and for twenty (P7)."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from actors import services as actors
from agents.services import drafts, stored_specs
from agents.services.shipped import create_shipped_sub_agents
from agents.specs.content import SpecContent
from boards.models import Board
from chats import services as chats
from chats.models import Chat, Message
from events.rows import ListingCategory, SpecOrigin, ThumbValue
from memory.models import Note
from publishing import services as publishing
from tests.api.fixtures import make_team_with_things
from tests.api.operations import OPERATIONS, make_merge, make_suggestion
from tests.api.test_rights import client_for, send_operation
from tests.factories.agents import DraftSnapshotFactory
from tests.factories.boards import BoardFactory, BoardTaskFactory, TaskResultFactory
from tests.factories.chats import MessageRevisionFactory, make_answer
from tests.factories.memory import HistoryEntryFactory, NoteFactory, NoteRevisionFactory
from tests.factories.runs import RunFactory
from tests.people import Team, make_agent, make_person
from tests.saved_rows import SavedRows
from workspaces import services as workspaces

LISTS = [name for name in OPERATIONS if name.startswith("list_")] + [
    "read_board",
    "read_me",
    "read_changes",
    "read_chat",
    "read_run",
    "read_viewpoint",
    "search_messages",
]


def grow(team: Team, count: int) -> None:
    """Create `count` more rows for every list."""
    for number in range(count):
        tag = f"{Chat.objects.count()}-{number}"
        person = make_person(f"Person-{tag}")
        workspaces.join_workspace(person, team.workspace.id, role="suggester", invited_by=team.alice)
        chats.add_participant(team.alice, team.chat.id, person.id)
        agent = make_agent(team.workspace, team.alice, f"Agent {tag}", tools=["current_time"])
        chats.add_participant(team.alice, team.chat.id, agent.id)
        publishing.publish_agent(
            team.alice,
            agent.id,
            name=f"Interpreter {tag}",
            handle=f"public-{tag}",
            description="Interprets.",
            category=ListingCategory.LANGUAGE,
        )
        chats.create_link(team.alice, team.chat.id, role="editor", hours=1)
        workspaces.create_workspace(team.alice, name=f"Workspace {tag}")
        actors.create_token(team.alice, name=tag, days=None)
        other = chats.create_chat(team.alice, team.workspace.id, title=tag, actor_ids=[agent.id])
        chats.post_message(person, team.chat.id, text=f"hi @{team.alice.handle}")
        for chat in (team.chat, other):
            message = chats.post_message(team.alice, chat.id, text=f"hi @{team.robin.handle}")[0]
            chats.pin_message(team.alice, chat.id, message.id)
        make_merge(team, make_suggestion(team, message), state="waiting", ended_at=None)
        agent_draft = drafts.claim_draft(actor=team.alice, chat_id=team.chat.id, agent_id=team.robin.id)
        DraftSnapshotFactory.create(draft=agent_draft, author=person)
        draft = drafts.claim_draft(actor=person, chat_id=team.chat.id, agent_id=agent.id)
        drafts.apply_draft(actor=person, chat_id=team.chat.id, agent_id=agent.id, revision=draft.revision)
        for chat in (team.chat, other):
            answer = make_answer(chat, team.robin)
            chats.give_thumb(team.alice, chat.id, answer.id, value=ThumbValue.DOWN)
        first = Message.objects.filter(chat=team.chat, type="TEXT_MESSAGE").earliest("seq")
        MessageRevisionFactory.create(message=first, replaced_by=person)
        note = NoteFactory.create(chat=team.chat, agent=team.robin, on_behalf_of=person, edited_by=person)
        NoteRevisionFactory.create(
            note=Note.objects.filter(agent=team.robin).earliest("created_at"),
            replaced_by=person,
            revision=Note.objects.count(),
        )
        HistoryEntryFactory.create(chat=note.chat, agent=team.robin)
        board = Board.objects.filter(chat=team.chat).earliest("pk")
        BoardFactory.create(chat=team.chat, on_behalf_of=person, ended=True)
        task_number = board.tasks.count() + 1
        TaskResultFactory.create(task=BoardTaskFactory.create(board=board, agent=agent, number=task_number))
        RunFactory.create(chat=team.chat, agent=team.robin, spec=team.robin.current_spec, state="completed")
        stored_specs.write_spec(
            team.robin, SpecContent(), author=team.alice, origin=SpecOrigin.DRAFT, number=100 + team.robin.specs.count()
        )


@pytest.fixture(scope="module")
def short_and_long_lists(django_db_setup, django_db_blocker):
    """A team with 2 and with 10 more rows for every list."""

    def make_lists(*counts):
        team, things = make_team_with_things()
        for count in counts:
            grow(team, count)
        return team, things

    with django_db_blocker.unblock():
        return SavedRows(lambda: make_lists(2)), SavedRows(lambda: make_lists(2, 8))


@pytest.mark.parametrize("name", LISTS)
def test_P7_a_list_needs_the_same_number_of_queries_at_any_length(db, short_and_long_lists, name):
    counts = []
    for saved in short_and_long_lists:
        with transaction.atomic():
            team, things = saved.copy()
            alice = client_for(team, "alice")
            create_shipped_sub_agents()  # as the first reader of the directory does
            with CaptureQueriesContext(connection) as queries:
                assert send_operation(alice, OPERATIONS[name], things).status_code == 200
            transaction.set_rollback(True)
        counts.append(len(queries))
    assert counts[0] == counts[1], [query["sql"][:120] for query in queries.captured_queries]
    assert counts[1] <= 12
