"""Messages that are edited or deleted while a run answers them, before, and after."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from agents.specs.content import ToolUse
from chats import services as chats
from chats.models import Message
from common.errors import Conflict, Invalid
from runs.models import Run
from runs.runtime.history import read_new_turns
from runs.services import runs
from runs.services.other_answers import request_other_answer
from tests.api.test_rights import fingerprint
from tests.concurrency import ConcurrentTransaction
from tests.factories.agents import change_spec
from tests.factories.chats import make_answer
from tests.factories.runs import RunFactory

pytestmark = pytest.mark.django_db(transaction=True)

CLOCK = [{"name": "current_time", "arguments": '{"timezone": "Asia/Taipei"}'}]


def set_tools(environment, *tools):
    change_spec(environment.team.robin.current_spec, tools=[ToolUse(tool=tool) for tool in tools])


def edit(environment, message, text="second text", **more):
    message.refresh_from_db()
    return chats.edit_message(message.author, message.id, text=text, edited_at=message.edited_at, **more)


def wait_for_running(environment):
    environment.wait(lambda: environment.model.requests and Run.objects.filter(state="running").exists())


def read_sent(environment, number=-1):
    messages = environment.model.requests[number].body["messages"]
    return "\n".join(str(one["content"]) for one in messages if one["role"] != "system")


def test_MSG11_a_queued_run_reads_the_edited_text(environment, request):
    message = environment.post("first text")
    edit(environment, message)
    request.getfixturevalue("engine")
    environment.submit_queued_runs()
    [run] = environment.wait_until_idle()
    assert "second text" in read_sent(environment)
    assert "first text" not in read_sent(environment)
    assert run.answered_ids == [message.id]


@pytest.mark.usefixtures("engine")
def test_MSG11_a_running_run_reads_the_correction_at_its_next_step_and_does_not_begin_anew(environment):
    set_tools(environment, "current_time")
    environment.model.script(mode="drip", count=20, every=0.05, calls=CLOCK, then={"text": "Done."}, times=1)
    message = environment.post("first text")
    wait_for_running(environment)
    edit(environment, message)
    [run] = environment.wait_until_idle()
    assert len(environment.model.requests) == 2
    assert "I have corrected my earlier message. It reads now:]\nsecond text" in read_sent(environment)
    assert run.changed_ids == []
    answer = environment.log("TEXT_MESSAGE")[-1]
    assert "answers_earlier_text" not in answer.payload


@pytest.mark.usefixtures("engine")
def test_MSG11_an_answer_that_was_written_during_the_edit_answers_the_earlier_text_and_is_followed_by_another(
    environment,
):
    set_tools(environment)
    environment.model.script(mode="drip", count=20, every=0.05, times=1)
    message = environment.post("first text")
    wait_for_running(environment)
    edit(environment, message)
    [run] = environment.wait_until_idle()
    assert environment.log("TEXT_MESSAGE")[-1].payload["answers_earlier_text"] is True
    request_other_answer(environment.team.alice, run.id)
    environment.submit_queued_runs()
    environment.wait_until_idle()
    assert "second text" in read_sent(environment)
    assert "first text" not in read_sent(environment)
    assert "answers_earlier_text" not in environment.log("TEXT_MESSAGE")[-1].payload


@pytest.mark.usefixtures("engine")
def test_another_answer_that_was_written_during_the_edit_answers_the_earlier_text(environment):
    set_tools(environment, "current_time")
    message = environment.post("first text")
    [run] = environment.wait_until_idle()
    request_other_answer(environment.team.alice, run.id)
    environment.model.script(mode="drip", count=20, every=0.05, calls=CLOCK, times=1)
    environment.submit_queued_runs()
    wait_for_running(environment)
    edit(environment, message)
    environment.wait_until_idle()
    answer = environment.log("TEXT_MESSAGE")[-1]
    assert (answer.run_id != run.id, answer.payload["answers_earlier_text"]) == (True, True)


def test_an_edit_wakes_only_whom_its_author_chooses_among_the_added_mentions(environment, request):
    team = environment.team
    finch = environment.add_agent("Finch")
    message = environment.post(f"@{team.robin.handle} look")
    Run.objects.all().delete()
    edit(environment, message, f"@{team.robin.handle} @{finch.handle} look")
    assert environment.runs() == []
    edit(environment, message, f"@{team.robin.handle} look")
    before = fingerprint()
    with pytest.raises(Invalid):
        edit(environment, message, f"@{team.robin.handle} @{finch.handle} look", wake_ids=frozenset({team.robin.id}))
    assert fingerprint() == before
    edit(environment, message, f"@{team.robin.handle} @{finch.handle} look", wake_ids=frozenset({finch.id}))
    [run] = environment.runs()
    assert (run.agent, run.trigger_id, run.on_behalf_of) == (finch, message.id, team.alice)
    request.getfixturevalue("engine")
    environment.model.script(text="Looked.")
    environment.submit_queued_runs()
    [run] = environment.wait_until_idle()
    assert (run.state, run.answered_ids) == ("completed", [message.id])
    assert environment.list_answers(finch) == ["Looked."]


def test_the_queued_run_of_a_deleted_message_is_stopped(environment):
    message = environment.post("first text")
    chats.delete_message(environment.team.alice, message.id)
    [run] = environment.runs()
    assert (run.state, run.attempt) == ("stopped", 0)


def test_the_queued_run_of_a_deleted_message_answers_the_next_one_that_addresses_its_agent(environment, request):
    first = environment.post("first text")
    second = environment.post("another question")
    chats.delete_message(environment.team.alice, first.id)
    [run] = environment.runs()
    assert (run.state, run.trigger_id, run.answered_ids) == ("queued", second.id, [second.id])
    request.getfixturevalue("engine")
    environment.submit_queued_runs()
    environment.wait_until_idle()
    assert "first text" not in read_sent(environment)
    assert "[This message was deleted.]" in read_sent(environment)
    assert len(environment.list_answers()) == 1


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("stop_runs", [True, False])
def test_a_running_run_of_a_deleted_message_is_stopped_only_if_its_author_says_so(environment, stop_runs):
    set_tools(environment, "current_time")
    environment.model.script(mode="drip", count=40, every=0.05, calls=CLOCK, then={"text": "Done."}, times=1)
    message = environment.post("first text")
    wait_for_running(environment)
    chats.delete_message(environment.team.alice, message.id, stop_runs=stop_runs)
    [run] = environment.wait_until_idle()
    assert run.state == ("stopped" if stop_runs else "completed")
    if not stop_runs:
        assert "[The message that began with “first text” was deleted. Do not use it.]" in read_sent(environment)


def test_a_run_that_took_up_a_message_later_is_stopped_when_that_is_deleted_if_its_author_says_so(environment):
    team = environment.team
    first, second = environment.post("first text", wake="nobody"), environment.post("second text", wake="nobody")
    run = RunFactory.create(
        chat=team.chat,
        agent=team.robin,
        running=True,
        trigger_id=first.id,
        trigger_seq=first.seq,
        answered_ids=[first.id, second.id],
    )
    assert run.to_row().answered_ids == [first.id, second.id]
    chats.delete_message(team.alice, second.id, stop_runs=True)
    run.refresh_from_db()
    assert (run.stop_requested_at is not None, run.stopped_by) == (True, team.alice)


@pytest.mark.parametrize(("works_for", "is_stopped"), [("bob", True), ("alice", False)])
def test_whoever_deletes_a_message_stops_no_run_that_they_may_not_stop(environment, works_for, is_stopped):
    team = environment.team
    first = environment.post("first text", wake="nobody")
    second, _ = chats.post_message(team.bob, team.chat.id, text="second text", wake="nobody")
    run = RunFactory.create(
        chat=team.chat,
        agent=team.robin,
        on_behalf_of=team[works_for],
        triggered_by=team[works_for],
        running=True,
        trigger_id=first.id,
        trigger_seq=first.seq,
        read_to=second.seq,
        answered_ids=[first.id, second.id],
    )
    chats.delete_message(team.bob, second.id, stop_runs=True)
    run.refresh_from_db()
    assert (run.stop_requested_at is not None, run.changed_ids == [second.id]) == (is_stopped, not is_stopped)


def test_an_edit_while_the_run_is_claimed_is_read_either_way(environment, request):
    """The edit waits for the chat that the claim has locked, or the claim for the edit."""
    message = environment.post("first text")
    with transaction.atomic():
        chats.lock_chat(environment.team.chat.id)
        other = ConcurrentTransaction(lambda: edit(environment, Message.objects.get(pk=message.pk)))
        request.getfixturevalue("engine")
        environment.submit_queued_runs()
    other.result()
    environment.wait_until_idle()
    [answer] = [one for one in environment.log("TEXT_MESSAGE") if one.author == environment.team.robin]
    was_read = "second text" in read_sent(environment)
    assert was_read != bool(answer.payload.get("answers_earlier_text"))


def test_a_queued_run_that_answers_the_next_message_works_for_whom_that_one_is_from(environment):
    team = environment.team
    finch = environment.add_agent("Finch")
    bobs = RunFactory.create(
        chat=team.chat, agent=finch, on_behalf_of=team.bob, triggered_by=team.bob, agent_hops=2, ended=True
    )
    first = environment.post(f"@{team.robin.handle} look")
    second, _ = chats.post_message(
        finch, team.chat.id, text=f"@{team.robin.handle} which price is it?", sent_by_run_id=bobs.id
    )
    chats.delete_message(team.alice, first.id)
    [run] = environment.runs(agent=team.robin)
    assert (run.state, run.trigger_id, run.woken_by) == ("queued", second.id, finch)
    assert (run.on_behalf_of, run.triggered_by, run.agent_hops, run.tree_id) == (team.bob, team.bob, 3, bobs.id)


def test_a_run_whose_message_is_deleted_before_another_agent_answers_it_works_on(environment):
    team = environment.team
    finch = environment.add_agent("Finch")
    asking = RunFactory.create(chat=team.chat, agent=team.robin, on_behalf_of=team.alice, running=True)
    said, _ = chats.post_message(
        team.robin, team.chat.id, text=f"@{finch.handle} which price is it?", sent_by_run_id=asking.id
    )
    chats.delete_message(team.alice, said.id)
    [run] = environment.runs(agent=finch)
    asking.refresh_from_db()
    assert (run.state, asking.state, asking.stop_requested_at) == ("stopped", "running", None)


def make_running_run(environment, messages):
    team = environment.team
    chat = team.chat
    chat.refresh_from_db()
    return RunFactory.create(
        chat=chat,
        agent=team.robin,
        on_behalf_of=team.alice,
        running=True,
        read_to=chat.version,
        changed_ids=[one.id for one in messages],
    )


def test_FAIR3_a_running_run_reads_no_more_of_changed_messages_than_of_new_ones(environment, settings):
    settings.LLM_MAX_CONTEXT = 2_000
    messages = [environment.post("word " * 2_000, wake="nobody") for _ in range(5)]
    for message in messages:
        edit(environment, message, "other " * 2_000)
    [turn] = read_new_turns(make_running_run(environment, messages))
    assert turn.text.count("other") == 2_000


def test_a_running_run_reads_of_any_number_of_deleted_messages_by_as_many_queries(environment):
    counts = []
    for number in (1, 1, 8):  # the first time, statements are prepared
        messages = [environment.post(f"text {one}", wake="nobody") for one in range(number)]
        for message in messages:
            chats.delete_message(environment.team.alice, message.id)
        run = make_running_run(environment, messages)
        with CaptureQueriesContext(connection) as asked:
            turns = read_new_turns(run)
        counts.append(len(asked))
        assert str(turns).count("was deleted. Do not use it.") == number
    assert counts[1] == counts[2]


def test_a_running_run_does_not_read_of_a_deleted_answer_that_was_not_in_use(environment):
    finch = environment.add_agent("Finch")
    answer = make_answer(environment.team.chat, finch, "The code is 4711.")
    Message.objects.filter(pk=answer.pk).update(is_unused=True)
    chats.delete_message(environment.team.alice, answer.id)
    assert "4711" not in str(read_new_turns(make_running_run(environment, [answer])))


def make_failed_run(environment):
    """Return a failed run, and the two messages that it answers."""
    messages = [environment.post(f"question {number}", wake="nobody") for number in (1, 2)]
    run = RunFactory.create(
        chat=environment.team.chat,
        agent=environment.team.robin,
        trigger_id=messages[0].id,
        answered_ids=[message.id for message in messages],
        ended=True,
        state="failed",
    )
    return run, messages


def test_a_run_is_not_retried_if_all_that_it_answers_was_deleted(environment):
    alice = environment.team.alice
    failed, messages = make_failed_run(environment)
    for message in messages:
        chats.delete_message(alice, message.id)
    before = fingerprint()
    with pytest.raises(Conflict):
        runs.retry_run(alice, failed.id)
    assert fingerprint() == before


def test_a_run_is_retried_if_a_message_that_it_answers_is_left(environment):
    alice = environment.team.alice
    failed, [first, _] = make_failed_run(environment)
    chats.delete_message(alice, first.id)
    assert runs.retry_run(alice, failed.id).state == "queued"
