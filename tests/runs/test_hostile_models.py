"""A model whose answers exceed all limits affects only its own run (FAIR5)."""

import asyncio
import json

import psycopg
import pytest
from django.db import OperationalError, connection, transaction

from chats.models import Message
from common.database import is_database_unavailable
from common.secrets import Secret
from events.payloads import MAX_TEXT
from llm.adapters import assembly
from llm.adapters.assembly import MAX_CALLS_OF_ANSWER, Assembly, CharacterBudget, budget
from llm.adapters.openai_stream import MAX_LINE_BYTES, OpenAIStream
from llm.messages import ToolCall
from llm.protocol import LLMError
from runs.kinds import chat as kinds
from runs.models import Run, Step
from runs.runtime.steps import Batch
from runs.runtime.toolbox import CONCURRENT_READS
from tests.factories.runs import RunFactory, StepFactory
from tests.runs.test_toolbox import build_toolbox
from tests.servers import get_database_url
from usage.models import LLMCall


def answers(environment):
    return list(Message.objects.filter(chat=environment.team.chat, author=environment.team.robin, type="TEXT_MESSAGE"))


# --- in a run -----------------------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_FAIR5_an_endless_answer_is_cut_and_its_connection_closed(environment, model):
    model.script(match="go on", mode="drip", tokens=["x" * 10_000] * 700, every=0.0001)
    environment.post("go on for ever")
    [run] = environment.wait_until_idle()
    assert (run.state, run.attempt, run.crashes) == ("completed", 1, 0)
    [answer] = answers(environment)
    assert len(answer.payload["text"]) == MAX_TEXT
    assert answer.payload["incomplete"] is True
    assert LLMCall.objects.get(run_id=run.id).finish == "length"
    environment.wait(lambda: model.requests[0].left_at)
    assert budget.left == CharacterBudget.TOTAL_CHARACTERS


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_FAIR5_an_answer_with_seventy_thousand_mentions_is_stored(environment, model):
    handles = " ".join(f"@h{number:05}" for number in range(70_000))
    model.script(match="mention", tokens=[handles[at : at + 50_000] for at in range(0, len(handles), 50_000)])
    environment.post("mention all")
    [run] = environment.wait_until_idle(30)
    assert (run.state, run.attempt, run.crashes) == ("completed", 1, 0)
    assert len(answers(environment)[0].payload["text"]) == MAX_TEXT


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_FAIR5_sixteen_of_four_hundred_calls_are_made_and_the_model_reads_that(environment, model):
    calls = [
        {"name": "current_time", "arguments": json.dumps({"timezone": f"Etc/GMT+{number % 12}"})}
        for number in range(400)
    ]
    model.script(match="all", calls=calls, then={"text": "done"})
    environment.post("call all")
    [run] = environment.wait_until_idle()
    assert run.state == "completed"
    assert Step.objects.filter(run=run, kind="tool").count() == MAX_CALLS_OF_ANSWER
    results = [row.payload for row in Message.objects.filter(run_id=run.id, type="TOOL_RESPONSE").order_by("seq")]
    assert [result["status"] for result in results] == ["ok"] * MAX_CALLS_OF_ANSWER + ["error"]
    assert f"At most {MAX_CALLS_OF_ANSWER} calls" in results[-1]["text"]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_FAIR5_a_run_that_the_database_refuses_fails_at_its_first_attempt(environment, model, monkeypatch, settings):
    """A value that cannot be stored can never be stored, and no crash is counted for it."""
    settings.RUN_LEASE = 60.0  # a busy machine takes seconds to build the statement, and the run must not be reclaimed

    def refused(*args, **kwargs):
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT 1 WHERE 1 IN ({', '.join(['%s'] * 65_536)})", list(range(65_536)))

    monkeypatch.setattr(kinds, "build_answer_messages", refused)
    monkeypatch.setattr(
        kinds,
        "build_partial_messages",
        lambda claimed, run, partial, model, **options: refused() if partial.text else [],
    )
    environment.post("hello")
    [run] = environment.wait_until_idle(60)
    assert (run.state, run.error_code, run.attempt, run.crashes) == ("failed", "internal", 1, 0)
    assert len(model.requests) == 1
    # The engine continues.
    monkeypatch.undo()
    environment.post("hello again")
    assert environment.wait_until_idle()[-1].state == "completed"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("statement", "is_away"),
    [
        ("SELECT repeat('x', 2000000000)", False),  # 54000: program limit exceeded
        ("SET statement_timeout = 1; SELECT pg_sleep(10)", False),
        ("SELECT pg_terminate_backend(pg_backend_pid())", True),
    ],
)
def test_FAIR5_only_a_lost_or_stopping_database_counts_as_unavailable(statement, is_away):
    with psycopg.connect(get_database_url()) as line, pytest.raises(psycopg.Error) as error:
        line.execute(statement)
    wrapped = OperationalError(str(error.value))
    wrapped.__cause__ = error.value
    assert is_database_unavailable(wrapped) is is_away


@pytest.mark.django_db
def test_FAIR5_a_statement_that_cannot_be_sent_does_not_count_as_a_lost_database():
    with pytest.raises(OperationalError) as error, connection.cursor() as cursor:
        cursor.execute(f"SELECT 1 WHERE 1 IN ({', '.join(['%s'] * 65_536)})", list(range(65_536)))
    assert not is_database_unavailable(error.value)


# --- the stream ---------------------------------------------------------------------------------------------------


def test_FAIR5_an_endless_line_is_buffered_in_parts_and_refused():
    stream = OpenAIStream(Secret(""))
    list(stream.read_bytes(b"data: "))
    for _ in range(1000):
        list(stream.read_bytes(b"x"))
    assert len(stream._buffer_parts) == 1001  # parts are not joined before the end of the line
    while stream._buffered_bytes <= MAX_LINE_BYTES - 1024:
        list(stream.read_bytes(b"x" * 1024))
    with pytest.raises(LLMError) as error:
        list(stream.read_bytes(b"x" * 1024))
    assert error.value.code == "garbled"


def test_FAIR5_a_line_in_many_parts_is_parsed_at_its_end():
    stream = OpenAIStream(Secret(""))
    line = b'data: {"choices": [{"delta": {"content": "hello"}, "finish_reason": "stop"}]}\n'
    chunks = [chunk for at in range(len(line)) for chunk in stream.read_bytes(line[at : at + 1])]
    assert [chunk.text for chunk in chunks] == ["hello"]


def test_FAIR5_each_part_of_an_answer_has_a_limit():
    made = Assembly()
    for _ in range(300):
        made.add_text("x" * 1000)
    assert (len(made.text), made.is_too_long) == (MAX_TEXT, True)
    thinking = Assembly()
    for _ in range(300):
        thinking.add_thinking("x" * 1000)
    assert (len(thinking.thinking), thinking.is_too_long) == (MAX_TEXT, True)
    calling = Assembly()
    for index in range(400):
        calling.add_call({"index": index, "id": f"c{index}", "function": {"name": "t", "arguments": "x" * 100_000}})
    assert calling.is_too_long
    assert len(calling.build_calls()) == MAX_CALLS_OF_ANSWER + 1
    assert sum(len(call.arguments) for call in calling.build_calls()) == assembly.MAX_ARGUMENT_CHARACTERS
    for one in (made, thinking, calling):
        one.release()
    assert budget.left == CharacterBudget.TOTAL_CHARACTERS


def test_FAIR5_all_answers_together_have_a_limit_that_does_not_affect_short_ones():
    long = [Assembly() for _ in range(200)]
    for one in long:
        one.add_text("x" * MAX_TEXT)
        one.add_thinking("x" * MAX_TEXT)
    assert any(one.is_too_long for one in long)
    used = sum(len(one.text) + len(one.thinking) for one in long)
    assert used <= CharacterBudget.TOTAL_CHARACTERS + len(long) * CharacterBudget.OWN_SHARE_CHARACTERS
    short = Assembly()
    short.add_text("x" * 10_000)
    assert (len(short.text), short.is_too_long) == (10_000, False)
    for one in long:
        one.release()
    assert budget.left == CharacterBudget.TOTAL_CHARACTERS


def test_FAIR5_arguments_that_seem_complete_again_and_again_are_parsed_a_few_times(monkeypatch):
    read = []

    def loads(text):
        read.append(text)
        raise ValueError

    monkeypatch.setattr("llm.adapters.assembly.json.loads", loads)
    made = Assembly()
    for _ in range(1000):
        made.add_call({"function": {"name": "t", "arguments": '{"a": "}'}})
    assert len(read) == assembly.MAX_PARSE_ATTEMPTS


async def test_FAIR5_a_run_makes_two_hundred_calls_at_most():
    made = build_toolbox(lambda tool, ctx, args: "")
    made.past_calls.extend(ToolCall(f"call_{number}", "other", "{}") for number in range(199))
    call = ToolCall("call_x", "it", "{}")
    assert [batch.known async for batch in made.build_batches([call], is_answer_cut=False)] == [()]
    [refused] = [batch async for batch in made.build_batches([call], is_answer_cut=False)]
    assert "200 calls" in refused.known[0].text


@pytest.mark.django_db(transaction=True)
def test_FAIR5_the_runs_of_a_tree_make_two_hundred_calls_at_most(environment, model, engine):
    """The calls of its parent and of a sibling count, those of a run of another tree do not."""
    calls = [{"name": "current_time", "arguments": json.dumps({"timezone": zone})} for zone in ("Asia/Tokyo", "UTC")]
    model.script(calls=calls, then={"text": "done"})
    chat, agent = environment.team.chat, environment.team.robin
    parent, sibling, stranger = (RunFactory.create(ended=True, chat=chat, agent=agent) for _ in range(3))
    for other, count in ((parent, 120), (sibling, 79), (stranger, 50)):
        for index in range(count):
            StepFactory.create(run=other, index=index, state="done", effect="read")
    environment.engine = None
    with transaction.atomic():  # so that the sweep of the engine does not claim the run before its root is set
        environment.post("hello")
        [run] = environment.runs(state="queued")
        Run.objects.filter(pk__in=[run.pk, sibling.pk]).update(root=parent)
    environment.engine = engine
    environment.submit_queued_runs()
    environment.wait_until_idle()
    results = [row.payload for row in Message.objects.filter(run_id=run.id, type="TOOL_RESPONSE").order_by("seq")]
    assert [result["status"] for result in results] == ["ok", "error"]
    assert results[1]["text"].startswith("200 calls were made already")
    assert Step.objects.filter(run=run, kind="tool").count() == 1


async def test_FAIR5_a_run_reads_four_pages_at_once(monkeypatch):
    at_once, most = 0, 0

    async def read(tool, ctx, args):
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0)
        at_once -= 1
        return ""

    outcomes = await build_toolbox(read).call(Batch(tuple(ToolCall(f"call_{n}", "it", "{}") for n in range(16))))
    assert len(outcomes) == 16
    assert most == CONCURRENT_READS
