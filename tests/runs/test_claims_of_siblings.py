"""The runs of one caller: those of the sub-agents that an answer calls are claimed in one transaction, and their answers stored."""

import asyncio
from dataclasses import replace

import pytest
from django.db import transaction

from actors.models import Actor
from agents.selectors import get_content
from chats import services as chats
from chats.models import Chat, Message
from common.db_executor import DatabaseExecutor
from llm.messages import Answer, ToolCall, Usage
from runs.kinds.sub_agent import SUB_AGENT
from runs.kinds.task import TaskAnswer
from runs.models import Run
from runs.runtime.conversation import make_storable
from runs.runtime.dispatch import send_siblings
from runs.runtime.history import StartedCalls
from runs.runtime.steps import LoopEnded, ModelAnswered, WaitingCall
from runs.services import claims
from runs.services.capacity import Capacity
from tests.factories.runs import StepFactory
from tests.people import make_agent
from tests.recorder import Recorder, prepare_run
from tools.interface import AgentTask
from usage.models import LLMCall
from worker.answers import AnswerCollector

pytestmark = pytest.mark.django_db(transaction=True)

OWNER = "here:1:a"


@pytest.fixture
def helpers(environment):
    with transaction.atomic():
        return [
            make_agent(environment.team.workspace, environment.team.alice, name, prompt=f"You are {name}.", tools=[])
            for name in ("Ada", "Bea", "Cleo")
        ]


@pytest.fixture
def run_ids(environment, helpers):
    """The queued runs of three tasks that Robin has given, one to each helper."""
    environment.post("@robin go")
    caller = claims.claim_run(environment.runs()[0].id, "there:1:b")
    assert caller is not None
    prepared = prepare_run(caller)
    recorder, step = Recorder(caller, prepared.model), prepared.build_conversation().step
    calls = tuple(ToolCall("", "delegate", "{}") for _ in helpers)
    answer = make_storable(Answer("", "", calls, Usage(1, 1), "tool_calls", "scripted"), step)
    recorder.record_answer(ModelAnswered(step, answer))
    tasks = tuple(
        WaitingCall(call, AgentTask(helper.id, f"Help, {helper.name}.", None, (), None, 900, 3))
        for call, helper in zip(answer.calls, helpers, strict=True)
    )
    recorder.record_loop_end(LoopEnded("waiting_child", waits=tasks))
    return list(Run.objects.filter(parent=caller.row).order_by("pk").values_list("pk", flat=True))


def claim_and_read_contents(run_ids):
    """Claim siblings, and read the contents of their specs, which a process keeps."""
    claimed = claims.claim_siblings(run_ids, OWNER, slots=Capacity())
    for run in claimed:
        get_content(run.row.get_spec())
    return claimed


def store_answer(prepared):
    step = prepared.build_conversation().step
    answer = make_storable(Answer("Done.", "", (), Usage(1, 1), "stop", "scripted"), step)
    Recorder(prepared.claimed, prepared.model).record_answer(ModelAnswered(step, answer))


def build_answers(run_ids):
    """Claim siblings, and return an answer of each that is to be stored."""
    answers = []
    for prepared in [prepare_run(run) for run in claim_and_read_contents(run_ids)]:
        step = prepared.build_conversation().step
        answer = make_storable(Answer("Done.", "", (), Usage(1, 1), "stop", "scripted"), step)
        answers.append(TaskAnswer(prepared.claimed, prepared.model, ModelAnswered(step, answer)))
    return answers


def collect(answers):
    """Store answers that arrive at the same time, as a worker does."""
    db = DatabaseExecutor(2, "tests")

    async def store():
        collector = AnswerCollector(db)
        return await asyncio.gather(*[collector.store(SUB_AGENT, answer) for answer in answers])

    return asyncio.run(store())


def list_states(run_ids):
    return list(Run.objects.filter(pk__in=run_ids).order_by("pk").values_list("state", "attempt", "lease_owner"))


def get_version(environment):
    return Chat.objects.get(pk=environment.team.chat.pk).version


def test_siblings_are_claimed_in_one_transaction(environment, run_ids):
    version = get_version(environment)
    claimed = claims.claim_siblings(run_ids, OWNER, slots=Capacity())
    assert [run.row.id for run in claimed] == run_ids
    assert list_states(run_ids) == [("running", 1, OWNER)] * 3
    assert get_version(environment) == version + 1
    stored = Run.objects.filter(pk__in=run_ids)
    assert [(run.row.spec, run.row.message_id) for run in claimed] == [
        (run.agent.current_spec, run.message_id) for run in stored.order_by("pk")
    ]
    slots = Capacity()
    assert claims.claim_siblings(run_ids, "there:1:b", slots=slots) == []
    assert (get_version(environment), slots.list_full_ids()) == (version + 1, [])


@pytest.mark.parametrize("count", [2, 3])
def test_siblings_share_what_their_preparation_reads(run_ids, django_assert_num_queries, count):
    for index in range(4):
        StepFactory.create(run=Run.objects.get(parent=None), index=index)
    siblings = claim_and_read_contents(run_ids[:count])
    with django_assert_num_queries(0):
        prepared = [prepare_run(run) for run in siblings]
    assert [one.started_calls for one in prepared] == [StartedCalls(of_other_runs=4)] * count


def test_the_statements_of_a_sub_agent(run_ids, django_assert_num_queries):
    """It reads no memory, no pins, no read cursor and no other message, so a run of a chat may need more."""
    siblings = claim_and_read_contents(run_ids[:2])
    store_answer(prepare_run(siblings[0]))
    with django_assert_num_queries(0):
        ready = prepare_run(siblings[1])
    with django_assert_num_queries(7):
        store_answer(ready)
    with django_assert_num_queries(7):
        alone = claims.claim_run(run_ids[2], OWNER)
    assert alone is not None
    get_content(alone.row.get_spec())
    with django_assert_num_queries(1):  # the steps of the other runs of its tree
        prepare_run(alone)


def test_siblings_without_a_slot_stay_queued(settings, run_ids):
    settings.RUNS_PER_PERSON = 2
    slots = Capacity()
    claimed = claims.claim_siblings(run_ids, OWNER, slots=slots)
    assert len(claimed) == 2
    assert sorted(state for state, _, _ in list_states(run_ids)) == ["queued", "running", "running"]
    assert slots.has_runs_without_slot


def test_siblings_are_claimed_one_by_one_if_one_is_not_allowed(environment, helpers, run_ids):
    Actor.objects.filter(pk=helpers[1].pk).update(accepts_tasks=False)
    version, slots = get_version(environment), Capacity()
    free = slots.free_slots
    assert claims.claim_siblings(run_ids, OWNER, slots=slots) == []
    assert list_states(run_ids) == [("queued", 0, "")] * 3
    assert (get_version(environment), slots.free_slots) == (version, free)


def test_the_siblings_of_a_run_that_is_not_allowed_are_executed(environment, helpers, run_ids, receiving_engine):
    Actor.objects.filter(pk=helpers[1].pk).update(accepts_tasks=False)
    environment.model.script(match="Help, ", text="Here it is.")
    send_siblings(run_ids)
    environment.wait_until_idle()
    ended = Run.objects.filter(pk__in=run_ids).order_by("pk").values_list("state", "error_code", "attempt")
    assert list(ended) == [("completed", "", 1), ("failed", "no_tasks", 0), ("completed", "", 1)]
    assert Run.objects.get(parent=None).state == "completed"


def test_no_other_run_is_looked_for_after_that_of_a_sub_agent(environment, run_ids, receiving_engine, monkeypatch):
    keys = []

    def record_key(key, *args, **options):
        keys.append(key)
        return claims.claim_next_run(key, *args, **options)

    monkeypatch.setattr("worker.engine.claim_next_run", record_key)
    environment.model.script(match="Help, ", text="Here it is.")
    send_siblings(run_ids)
    environment.wait_until_idle()
    assert keys == [Run.objects.get(parent=None).concurrency_key]


def test_answers_that_arrive_together_are_stored_in_one_transaction(environment, run_ids):
    answers, version = build_answers(run_ids), get_version(environment)
    saved = collect(answers)
    assert [one.stop for one in saved] == [False] * 3
    assert list_states(run_ids) == [("completed", 1, "")] * 3
    assert get_version(environment) == version + 3  # one number for each text
    assert LLMCall.objects.filter(run_id__in=run_ids).count() == 3
    assert Run.objects.get(parent=None).state == "queued"
    # The rows of one transaction share the version of its last text.
    assert len(set(Run.objects.filter(pk__in=run_ids).values_list("version", flat=True))) == 1


def test_answers_of_one_tree_in_two_chats_stay_in_their_chats(environment, run_ids):
    """A tree spans chats if an agent has sent a message into another one."""
    answers = build_answers(run_ids)
    team = environment.team
    other = chats.create_chat(team.alice, team.workspace.id, title="Another", actor_ids=[team.robin.id])
    claimed = answers[2].claimed.row
    Run.objects.filter(pk=claimed.pk).update(chat=other)
    claimed.chat = other
    collect(answers)
    texts = Message.objects.filter(run_id__in=run_ids, type="TEXT_MESSAGE").order_by("pk")
    assert set(texts.values_list("run_id", "chat_id")) == {
        (run_ids[0], team.chat.id),
        (run_ids[1], team.chat.id),
        (run_ids[2], other.id),
    }


@pytest.mark.parametrize("obstacle", ["lost", "not allowed"])
def test_no_answer_is_stored_with_one_that_cannot_be_stored(environment, helpers, run_ids, obstacle):
    answers, version = build_answers(run_ids), get_version(environment)
    if obstacle == "lost":
        Run.objects.filter(pk=run_ids[1]).update(attempt=2)
    else:
        Actor.objects.filter(pk=helpers[1].pk).update(accepts_tasks=False)
    before = list_states(run_ids)
    assert collect(answers) == [None] * 3
    assert list_states(run_ids) == before
    assert get_version(environment) == version
    assert not LLMCall.objects.filter(run_id__in=run_ids).exists()
    # Each can still be stored by itself.
    assert collect(answers[:1])[0] is not None
    assert list_states(run_ids[:1]) == [("completed", 1, "")]


def test_a_sub_agent_without_a_text_fails_among_others(environment, run_ids):
    answers = build_answers(run_ids)
    event = answers[1].event
    silent = replace(event, answer=replace(event.answer, text=""))
    collect([answers[0], replace(answers[1], event=silent), answers[2]])
    assert [state for state, *_ in list_states(run_ids)] == ["completed", "failed", "completed"]
    assert Run.objects.get(pk=run_ids[1]).error_code == "empty_answer"
    assert Run.objects.get(parent=None).state == "queued"
