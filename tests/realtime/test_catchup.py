"""Snapshots and changes of a chat, in a constant number of queries."""

from django.db import transaction

from agents.services import drafts
from boards.models import Board
from chats import services as chats
from chats.models import Chat
from common.clock import now
from common.ids import new_id
from events.frames import Delta
from events.rows import DraftRow
from events.rows.messages import TextMessageRow
from events.stream import Streams
from realtime import catchup
from realtime.catchup import catch_up
from realtime.db_executor import run_in_db_thread
from tests.factories.boards import BoardFactory, BoardTaskFactory
from tests.factories.runs import RunFactory
from tests.people import make_agent
from tests.realtime.test_socket import post


def a_run(team, **fields):
    return RunFactory.create(chat=team.chat, agent=team.robin, running=True, **fields)


def kinds(found):
    return [row.kind for row in found.rows]


def test_a_snapshot_has_the_newest_page_and_whether_there_are_older_messages(team, monkeypatch):
    monkeypatch.setattr(catchup, "MESSAGES_PER_SNAPSHOT", 5)
    for number in range(8):
        post(team.chat, team.alice, f"{number}")
    found = catch_up(team.chat.id, None)
    texts = [row.payload["text"] for row in found.rows if isinstance(row, TextMessageRow)]
    assert (found.snapshot, found.has_older, texts) == (True, True, ["3", "4", "5", "6", "7"])


def test_a_snapshot_of_a_whole_chat_has_no_older_messages(team, monkeypatch):
    monkeypatch.setattr(catchup, "MESSAGES_PER_SNAPSHOT", 3)
    found = catch_up(team.chat.id, None)  # three people came in
    assert (found.has_older, kinds(found).count("message")) == (False, 3)


def test_large_messages_make_a_shorter_page_but_never_an_empty_one(team, monkeypatch):
    monkeypatch.setattr("chats.selectors.PAGE_BYTES", 1000)
    for letter in "abc":
        post(team.chat, team.alice, letter * 600)
    post(team.chat, team.alice, "d" * 5000)
    found = catch_up(team.chat.id, None)
    assert [row.payload["text"][0] for row in found.rows if isinstance(row, TextMessageRow)] == ["c", "d"]
    assert found.has_older


def test_an_unknown_version_gets_a_snapshot(team):
    assert catch_up(team.chat.id, 10_000).snapshot
    assert not catch_up(team.chat.id, catch_up(team.chat.id, None).version).snapshot


def test_rows_that_ended_since_the_version_are_sent_and_older_ended_rows_are_not(team):
    with transaction.atomic():
        draft = drafts.claim_draft(actor=team.alice, chat_id=team.chat.id, agent_id=team.robin.id)
    since = catch_up(team.chat.id, None).version
    drafts.discard_draft(actor=team.alice, chat_id=team.chat.id, agent_id=team.robin.id, revision=draft.revision)
    drafts_read = [row for row in catch_up(team.chat.id, since).rows if isinstance(row, DraftRow)]
    assert [(row.status, row.outcome) for row in drafts_read] == [("ended", "discarded")]
    assert "draft" not in kinds(catch_up(team.chat.id, None))
    assert "draft" not in kinds(catch_up(team.chat.id, catch_up(team.chat.id, None).version))


def test_catching_up_costs_the_same_for_a_small_and_a_large_chat(team, django_assert_num_queries):
    for size in (2, 20):
        for number in range(size):
            post(team.chat, team.alice, f"{number}")
            agent = make_agent(team.workspace, team.alice, f"Agent {size} {number}")
            chats.add_participant(team.alice, team.chat.id, agent.id)
            a_run(team)
        draft = drafts.claim_draft(actor=team.bob, chat_id=team.chat.id, agent_id=team.robin.id)
        drafts.apply_draft(actor=team.bob, chat_id=team.chat.id, agent_id=team.robin.id, revision=draft.revision)
        with django_assert_num_queries(6):
            catch_up(team.chat.id, None)
        with django_assert_num_queries(6):
            catch_up(team.chat.id, 3)


def test_boards_are_read_only_in_chats_that_have_some_to_send(team, django_assert_num_queries):
    before = catch_up(team.chat.id, None).version
    Chat.objects.filter(pk=team.chat.pk).update(version=before + 2)
    board = BoardFactory.create(chat=team.chat, on_behalf_of=team.alice, version=before + 2)
    task = BoardTaskFactory.create(board=board, agent=team.robin, version=before + 2)
    with django_assert_num_queries(9):  # the board, its tasks and their results
        rows = {row.id for row in catch_up(team.chat.id, None).rows}
    assert {board.id, task.id} <= rows
    ended = {"state": "failed", "reason_code": "stopped", "ended_at": now()}
    Board.objects.update(**ended)
    with django_assert_num_queries(6):
        assert not {board.id, task.id} & {row.id for row in catch_up(team.chat.id, None).rows}
    assert {board.id, task.id} <= {row.id for row in catch_up(team.chat.id, before).rows}, "they have changed since"


async def test_MSG10_a_new_subscriber_gets_the_streamed_text_so_far_and_the_following_deltas(team, tabs):
    run = await run_in_db_thread(a_run, team, message_id=new_id())
    ended = await run_in_db_thread(a_run, team, state="completed", lease_until=None)
    behind = await run_in_db_thread(a_run, team, attempt=2)
    streams = Streams()
    topic = f"chat:{team.chat.id}"
    names = {"topic": topic, "agent_id": team.robin.id}
    stream = streams.open(run_id=run.id, message_id=run.message_id, attempt=1, **names)
    stream.add_chunk("text", "It is ")
    for other in (ended, behind):
        streams.open(run_id=other.id, message_id=new_id(), attempt=1, **names).add_chunk("text", "a ghost")
    await streams.flush(list(streams._current.values()))
    alice = await tabs.open_tab(team.alice)
    answer = await alice.subscribe(topic)
    assert [(partial["run_id"], partial["text"]) for partial in answer["partials"]] == [(str(run.id), "It is ")]
    stream.add_chunk("text", "noon 🌞")
    await stream.flush()
    delta = await alice.receive_type("delta")
    assert Delta.model_validate(delta).offset == len("It is ")
    assert delta["text"] == "noon 🌞"
    await streams.aclose()
