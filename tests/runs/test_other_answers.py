"""Another answer to the same message: what its run reads, which answer later runs read, and races."""

import json

import pytest
from django.db import transaction

from actors.models import Actor
from chats import services as chats
from chats.models import Chat, Message
from chats.selectors import get_listed_chat, list_messages, list_other_answers, search_messages
from common.errors import Conflict, Forbidden, LimitReached, NotFound
from context.retrieval import find_messages
from context.selectors import (
    find_newest_summary,
    list_current_sentences,
    list_important_events,
    list_older_pinned_messages,
)
from inspector.selectors import get_run_inspection
from memory.history import read_history_turns
from runs.models import Run
from runs.services import other_answers, runs
from tests.api.test_rights import client_for, fingerprint
from tests.concurrency import ConcurrentTransaction
from tests.factories.agents import add_tool_use
from tests.factories.chats import MessageFactory, make_answer
from tests.factories.context import HistorySummaryFactory
from tests.factories.memory import HistoryEntryFactory
from tests.factories.runs import RunFactory
from tests.people import make_agent, make_team
from tests.realtime.recording import Recording

pytestmark = pytest.mark.django_db(transaction=True)


def get_run(environment, number=0):
    return environment.runs()[number]


def ask_again(environment, run, who="alice"):
    again = other_answers.request_other_answer(environment.team[who], run.id)
    environment.submit_queued_runs()
    return again


def list_turns(request):
    return [turn["content"] for turn in request.body["messages"][1:]]


def list_used(environment):
    return [message.text for message in environment.log("TEXT_MESSAGE") if message.run_id and not message.is_unused]


@pytest.fixture
def answered(environment, engine):
    """A question that Robin has answered by `twelve`."""
    environment.model.script(text="twelve")
    environment.post("@robin how many?")
    [run] = environment.wait_until_idle()
    return run


def test_another_answer_reads_what_the_first_has_read_and_replaces_it(environment, answered):
    environment.model.script(text="noted")
    environment.post("@robin thanks")
    environment.wait_until_idle()
    environment.model.script(text="fourteen")
    again = ask_again(environment, answered, who="bob")
    environment.wait_until_idle()
    assert list_turns(environment.model.requests[-1]) == ["Alice: @robin how many?"]
    again.refresh_from_db()
    assert (again.state, again.on_behalf_of, again.trigger_id) == (
        "completed",
        environment.team.bob,
        answered.trigger_id,
    )
    assert list_used(environment) == ["noted", "fourteen"]
    first, other = [Message.objects.get(run_id=run.id, type="TEXT_MESSAGE") for run in (answered, again)]
    assert (first.is_unused, other.group_seq) == (True, first.seq)

    environment.model.script(text="good")
    environment.post("@robin and now?")
    environment.wait_until_idle()
    read = list_turns(environment.model.requests[-1])
    assert read == ["Alice: @robin how many?", "fourteen", "Alice: @robin thanks", "noted", "Alice: @robin and now?"]


def test_a_person_chooses_the_answer_that_agents_read_and_a_line_says_so(environment, answered):
    environment.model.script(text="fourteen")
    ask_again(environment, answered)
    environment.wait_until_idle()
    for _ in range(2):  # the second time changes nothing
        other_answers.choose_answer(environment.team.bob, answered.id)
    assert list_used(environment) == ["twelve"]
    [line] = environment.log("ANSWER_CHOSEN")
    assert (line.payload["actor_name"], line.payload["run_id"]) == ("Bob", str(answered.id))
    environment.model.script(text="good")
    environment.post("@robin and now?")
    environment.wait_until_idle()
    assert list_turns(environment.model.requests[-1]) == ["Alice: @robin how many?", "twelve", "Alice: @robin and now?"]


def test_people_who_do_not_have_the_chat_open_learn_that_its_last_message_is_another_one(environment, answered):
    environment.model.script(text="fourteen")
    ask_again(environment, answered)
    environment.wait_until_idle()
    with Recording(f"workspace:{environment.team.workspace.id}") as recording:
        other_answers.choose_answer(environment.team.bob, answered.id)
        assert [message["type"] for message in recording.get_received()] == ["activity"]


def test_two_people_ask_at_once_and_get_the_same_answer(environment, answered):
    team = environment.team
    with transaction.atomic():
        again = other_answers.request_other_answer(team.alice, answered.id)
        bobs = ConcurrentTransaction(lambda: other_answers.request_other_answer(team.bob, answered.id))
    assert bobs.result().id == again.id
    assert Run.objects.filter(kind="other_answer").count() == 1


def test_an_answer_that_was_chosen_while_another_one_is_written_stays_in_use(environment, answered):
    environment.model.script(text="fourteen")
    ask_again(environment, answered)
    [_, second] = environment.wait_until_idle()
    engine, environment.engine = environment.engine, None
    third = ask_again(environment, answered)
    other_answers.choose_answer(environment.team.alice, answered.id)
    environment.model.script(text="fifteen")
    engine.submit([third.id])
    environment.wait_until_idle()
    assert list_used(environment) == ["twelve"]
    assert Message.objects.filter(run_id__in=[second.id, third.id], is_unused=False).count() == 0


def test_an_answer_that_failed_does_not_replace_the_one_in_use(environment, answered):
    environment.model.script(mode="cut", after=2, text="so far so good")
    again = ask_again(environment, answered)
    environment.wait_until_idle()
    again.refresh_from_db()
    assert (again.state, list_used(environment)) == ("failed", ["twelve"])
    assert Message.objects.filter(run_id=again.id, type="TEXT_MESSAGE", is_unused=True).exists()


def test_no_model_answers_again_for_an_agent_whose_answers_an_outside_program_gives_now(environment, answered):
    alice = environment.team.alice
    environment.model.script(mode="status", status=401)
    failed = ask_again(environment, answered)
    environment.wait_until_idle()
    Actor.objects.filter(pk=answered.agent_id).update(runs_outside=True)
    before = fingerprint()
    with pytest.raises(Conflict):
        other_answers.request_other_answer(alice, answered.id)
    with pytest.raises(Conflict):
        runs.retry_run(alice, failed.id)
    assert fingerprint() == before


def test_a_refused_request_changes_nothing(environment, answered):
    team = environment.team
    waiting = Run.objects.get(pk=answered.pk)
    before = fingerprint()
    for error, who in ((NotFound, "charlie"), (Forbidden, "robin")):
        with pytest.raises(error):
            other_answers.request_other_answer(team[who], waiting.id)
        with pytest.raises(error):
            other_answers.choose_answer(team[who], waiting.id)
    with pytest.raises(Conflict):
        other_answers.choose_answer(team.alice, waiting.id)  # there is no other answer
    assert fingerprint() == before
    Message.objects.filter(pk=answered.trigger_id).delete()
    before = fingerprint()
    with pytest.raises(Conflict):
        other_answers.request_other_answer(team.alice, answered.id)
    assert fingerprint() == before


def test_an_agent_that_has_left_the_chat_is_not_asked_and_one_that_leaves_meanwhile_keeps_its_answer(
    environment, answered
):
    team, chat_id = environment.team, answered.chat_id
    engine, environment.engine = environment.engine, None
    again = ask_again(environment, answered)
    chats.remove_participant(team.alice, chat_id, team.robin.id)
    again.refresh_from_db()
    assert (again.state, list_used(environment)) == ("stopped", ["twelve"])
    before = fingerprint()
    with pytest.raises(Conflict):
        other_answers.request_other_answer(team.alice, answered.id)
    assert fingerprint() == before
    environment.engine = engine


def test_a_message_has_a_limited_number_of_answers(environment, answered, monkeypatch):
    monkeypatch.setattr(other_answers, "MAX_ANSWERS", 2)
    environment.model.script(text="fourteen")
    again = ask_again(environment, answered)
    assert other_answers.request_other_answer(environment.team.alice, answered.id).id == again.id
    environment.wait_until_idle()
    before = fingerprint()
    with pytest.raises(LimitReached):
        other_answers.request_other_answer(environment.team.alice, answered.id)
    assert fingerprint() == before


def test_an_answer_without_a_text_does_not_replace_the_one_in_use(environment, answered):
    add_tool_use(environment.team.robin.current_spec, "react")
    call = {"name": "react", "arguments": json.dumps({"emoji": "✅"})}
    environment.model.script(calls=[call], then={"tokens": [""], "finish": "stop"})
    again = ask_again(environment, answered)
    environment.wait_until_idle()
    again.refresh_from_db()
    assert (again.state, list_used(environment)) == ("failed", ["twelve"])
    before = fingerprint()
    with pytest.raises(Conflict):
        other_answers.choose_answer(environment.team.alice, again.id)
    assert fingerprint() == before


def test_a_retry_gives_no_more_answers_than_are_allowed(environment, answered, monkeypatch):
    monkeypatch.setattr(other_answers, "MAX_ANSWERS", 2)
    environment.model.script(mode="status", status=401)
    failed = ask_again(environment, answered)
    environment.wait_until_idle()
    before = fingerprint()
    with pytest.raises(LimitReached):
        runs.retry_run(environment.team.alice, failed.id)
    assert fingerprint() == before


def test_another_answer_to_a_deleted_message_is_not_retried(environment, answered):
    environment.model.script(mode="status", status=401)
    failed = ask_again(environment, answered)
    environment.wait_until_idle()
    chats.delete_message(environment.team.alice, answered.trigger_id)
    before = fingerprint()
    with pytest.raises(Conflict):
        runs.retry_run(environment.team.alice, failed.id)
    assert fingerprint() == before


# --- what reads the messages of a chat ------------------------------------------------------------------------------


@pytest.fixture
def two_answers():
    """A team, the answer that is not in use, and the one in use: `We are 12.` and `We are 14.`, with a file each."""
    team = make_team()
    question, _ = chats.post_message(team.alice, team.chat.id, text="How many?", wake="nobody")
    found = []
    for text, name in (("We are 12.", "twelve.md"), ("We are 14.", "fourteen.md")):
        run = RunFactory.create(chat=team.chat, agent=team.robin, trigger_id=question.id, ended=True)
        answer = make_answer(team.chat, team.robin, text)
        file = MessageFactory.create(
            chat=team.chat,
            seq=answer.seq + 100,
            author=team.robin,
            type="FILE_MESSAGE",
            run_id=run.id,
            payload={"name": name, "file_id": str(answer.id), "kind": "text"},
        )
        found.append((answer, file, run))
    [(first, first_file, run), (other, other_file, other_run)] = found
    Message.objects.filter(pk__in=[first.id, first_file.id]).update(run_id=run.id, is_unused=True)
    Message.objects.filter(pk__in=[other.id, other_file.id]).update(run_id=other_run.id, group_seq=first.seq)
    Chat.objects.filter(pk=team.chat.pk).update(version=other_file.seq)
    return team, *[Message.objects.get(pk=message.pk) for message in (first, other)]


def test_a_person_chooses_answers_no_faster_than_they_post(two_answers, settings):
    settings.RATES = settings.RATES | {"posts": (0.001, 1.0)}
    team, first, other = two_answers
    Run.objects.filter(pk=other.run_id).update(group_seq=first.seq)
    api = client_for(team, "alice")
    api.ok("PUT", f"runs/{first.run_id}/chosen")
    before = fingerprint()
    assert api("PUT", f"runs/{other.run_id}/chosen").status_code == 429
    assert fingerprint() == before


def test_search_and_retrieval_find_only_the_answer_in_use(two_answers):
    team, _, other = two_answers
    chat = Chat.objects.filter(pk=team.chat.pk)
    assert [message.id for message in search_messages(chat, "We are")] == [other.id]
    assert [message.payload["name"] for message in search_messages(chat, "md")] == ["fourteen.md"]
    found = [message.text for message in find_messages(team.chat.id, "12 or 14", before_seq=10**9)]
    assert ("We are 12." in found, "We are 14." in found) == (False, True)


def test_the_parts_of_a_long_chat_that_a_model_reads_have_only_the_answer_in_use(two_answers):
    team, first, other = two_answers
    Message.objects.filter(pk__in=[first.id, other.id]).update(pinned_at=first.created_at)
    assert [one.id for one in list_older_pinned_messages(team.chat.id, 10**9, max_characters=99)] == [other.id]
    assert [event.payload["name"] for event in list_important_events(team.chat.id, 10**9)] == ["fourteen.md"]
    sentences = [
        {"id": str(message.id), "section": "Decided", "text": message.text, "seqs": [message.seq]}
        for message in (first, other)
    ]
    HistorySummaryFactory.create(chat=team.chat, sentences=sentences)
    summary = find_newest_summary(team.chat.id)
    assert summary is not None
    assert [one.text for one in list_current_sentences(summary)] == ["We are 14."]


def test_the_history_of_an_agent_has_only_the_answer_in_use(two_answers):
    team, first, other = two_answers
    entries = [
        HistoryEntryFactory.create(chat=team.chat, agent=team.robin, run_id=message.run_id, first_seq=1, last_seq=1)
        for message in (first, other)
    ]
    turns = read_history_turns(entries)
    assert [[turn.text for turn in turns[entry.id] if turn.kind == "answer"] for entry in entries] == [
        [],
        ["We are 14."],
    ]


def test_an_agent_has_read_only_the_answer_in_use(two_answers):
    team, _, other = two_answers
    quill = make_agent(team.workspace, team.alice, "Quill")
    run = RunFactory.create(chat=team.chat, agent=quill, ended=True, trigger_seq=1, read_to=other.seq)
    timeline = get_run_inspection(team.alice, run.id).timeline
    assert "We are 12." not in [part.note for part in timeline if part.kind == "read"]
    assert "We are 14." in [part.note for part in timeline if part.kind == "read"]


def test_the_list_of_chats_shows_the_answer_in_use(two_answers):
    team, first, other = two_answers
    Message.objects.filter(type="FILE_MESSAGE", chat=team.chat).delete()
    Message.objects.filter(pk=first.pk).update(is_unused=False)
    Message.objects.filter(pk=other.pk).update(is_unused=True)
    listed = get_listed_chat(actor=team.alice, chat_id=team.chat.id)
    assert listed is not None
    assert listed.last_message is not None
    assert (listed.last_message.id, listed.unread) == (first.id, 1)


def test_a_page_of_the_log_comes_with_the_other_answers_in_the_place_of_its_answers(two_answers):
    team, first, other = two_answers
    page = list_messages(chat=team.chat, around=first.id, limit=1)
    assert [message.id for message in list_other_answers(team.chat, page)] == [
        message.id for message in Message.objects.filter(group_seq=first.seq).order_by("seq")
    ]
    before = list_messages(chat=team.chat, before=first.seq, limit=5)
    assert list_other_answers(team.chat, before) == []
    assert list_other_answers(team.chat, list_messages(chat=team.chat, limit=50)) == []
    assert other.group_seq == first.seq
