"""Models that fail, stall, break off or send malformed calls, and the messages and rows of their runs."""

from datetime import timedelta
from uuid import uuid4

import pytest
import time_machine
from django.db import transaction
from django.test import override_settings

from chats import services as chats
from common.clock import now
from llm import retry
from llm.retry import _breakers
from llm.tokens import estimate_tokens
from notifications.models import Notification
from runs.hooks import run_failed
from runs.kinds.job import JobInput
from runs.models import Run
from runs.services.runs import start_job, stop_run
from suggestions.run_kinds import MERGE
from system_tools.current_time import CurrentTime
from tests.factories.agents import add_tool_use, change_spec
from tools.interface import Tool, ToolArgs, ToolContext
from tools.registry import register, registry
from usage.models import LLMCall
from workspaces.models import Credential

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


def outcome(environment):
    """Return the state and the error code of the run, and the log after the question."""
    [run] = environment.wait_until_idle()
    return (run.state, run.error_code), [row.type for row in environment.log()[1:]]


@pytest.mark.parametrize("mode", ["cut", "cleancut", "halfline"])
def test_RUN11_a_cut_stream_is_never_stored_as_complete(environment, mode):
    environment.model.script(mode=mode, after=3, text="this is only the beginning of it")
    environment.post("hello")
    assert outcome(environment) == (("failed", "cut"), ["TEXT_MESSAGE", "RUN_FAILED"])
    partial = environment.log("TEXT_MESSAGE")[-1]
    assert (partial.text, partial.payload["incomplete"]) == ("this is only", True)
    # The loop requested it once more, and then kept it as incomplete.
    assert len(environment.model.requests) == 2
    assert list(LLMCall.objects.order_by("pk").values_list("error_code", "attempt")) == [("cut", 1), ("cut", 2)]


def test_a_failed_answer_notifies_the_person_whom_the_run_works_for_once_a_day(environment):
    team = environment.team
    for number in (1, 2):
        environment.model.script(tokens=[""], finish="stop")
        environment.post("hello, @robin", by=team.bob)
        assert len(environment.wait_until_idle()) == number
        [notification] = Notification.objects.all()
    line = environment.log("RUN_FAILED")[0]
    assert (notification.person, notification.type, notification.agent_name) == (team.bob, "run_failed", "Robin")
    assert (notification.chat_id, notification.message_id) == (team.chat.id, line.id)
    assert (notification.excerpt, notification.read_at) == ("empty_answer", None)
    with time_machine.travel(now() + timedelta(days=1)), transaction.atomic():
        run_failed.call(environment.runs()[0], line)
    assert Notification.objects.count() == 2
    # Who has the chat open reads the line at once.
    with transaction.atomic():
        chats.mark_read(team.bob, team.chat.id, seq=line.seq)
    assert not Notification.objects.filter(read_at=None).exists()


def test_a_stopped_answer_notifies_nobody(environment):
    environment.model.script(mode="drip", count=500)
    environment.post("hello", by=environment.team.bob)
    environment.wait(lambda: Run.objects.filter(state="running").exists())
    stop_run(environment.team.bob, environment.runs()[0].pk)
    [run] = environment.wait_until_idle()
    assert (run.state, Notification.objects.count()) == ("stopped", 0)


def test_an_answer_that_broke_off_has_a_ledger_entry_with_its_usage(environment):
    environment.model.script(text="this is the whole of it")
    environment.model.script(mode="cleancut", after=3, text="this is only the beginning of it", times=1)
    environment.post("hello")
    [run] = environment.wait_until_idle()
    first, second = LLMCall.objects.order_by("pk")
    assert (first.error_code, first.tokens_estimated, first.output_tokens) == ("cut", True, 3)
    assert first.input_tokens > 20  # the system text and the messages
    assert (second.error_code, second.tokens_estimated) == ("", False)
    assert run.input_tokens == first.input_tokens + second.input_tokens
    assert run.output_tokens == first.output_tokens + second.output_tokens


def test_RUN11_a_stream_cut_before_its_first_chunk_is_requested_once_more(environment):
    environment.model.script(text="whole")
    environment.model.script(mode="cleancut", after=0, tokens=["x"], times=1)
    environment.post("hello")
    assert outcome(environment) == (("completed", ""), ["TEXT_MESSAGE"])
    assert environment.log()[-1].text == "whole"
    assert len(environment.model.requests) == 2
    assert environment.runs()[0].attempt == 1


@pytest.mark.parametrize("mode", ["cut", "cleancut", "halfline", "errframe", "stall"])
@override_settings(LLM_IDLE_TIMEOUT=0.3)
def test_RUN11_an_answer_cut_in_the_middle_is_requested_again_and_is_complete(environment, mode):
    environment.model.script(text="this is the whole of it")
    environment.model.script(mode=mode, after=3, text="this is only the beginning of it", times=1)
    environment.post("hello")
    assert outcome(environment) == (("completed", ""), ["TEXT_MESSAGE"])
    answer = environment.log()[-1]
    assert (answer.text, answer.payload["incomplete"]) == ("this is the whole of it", False)
    [run] = environment.runs()
    assert (run.attempt, run.crashes, run.steps_done) == (2, 0, 1)
    assert [bool(call.error_code) for call in LLMCall.objects.order_by("pk")] == [True, False]


def test_RUN11_a_run_that_retries_keeps_its_lease(environment):
    """A heartbeat that reads the previous or the next attempt does not cancel the run."""
    environment.model.script(text="one two three four five six seven eight nine ten", every=0.2)
    environment.model.script(mode="cleancut", after=3, text="this is only the beginning", times=1, every=0.3)
    environment.post("hello")
    assert outcome(environment) == (("completed", ""), ["TEXT_MESSAGE"])
    assert (environment.runs()[0].attempt, len(environment.model.requests)) == (2, 2)


def test_a_chat_that_is_too_long_for_its_model_is_cut_to_half(environment):
    for number in range(20):
        environment.post(f"{number} " + "x" * 200, wake="nobody")
    environment.model.script(text="short enough")
    environment.model.script(
        mode="status",
        status=400,
        times=1,
        error="This model's maximum context length is 4096 tokens, you asked for 9999.",
    )
    environment.post("hello")
    (state, _), _ = outcome_of_last(environment)
    assert state == "completed"
    long, short = ([turn["content"] for turn in one.body["messages"]] for one in environment.model.requests)
    assert len(short) < len(long) * 0.7
    assert short[-1].endswith("hello")


MODEL_IS_SMALL = "This model's maximum context length is 4096 tokens, you asked for 9999."


def test_a_message_too_long_for_its_model_is_shortened_and_answered(environment):
    """The limit of the provider is lower than the known one, and the conversation is a single message."""
    environment.model.script(text="short enough")
    environment.model.script(mode="status", status=400, times=1, error=MODEL_IS_SMALL)
    text = "BEGIN " + "word " * 10_000 + "END"
    environment.post(text)
    assert outcome(environment) == (("completed", ""), ["TEXT_MESSAGE"])
    long, short = (one.body["messages"][-1]["content"] for one in environment.model.requests)
    assert long == f"Alice: {text}"
    assert len(short) < 0.51 * len(text)
    assert short.startswith("Alice: BEGIN word")
    assert short.endswith("word END")
    assert "characters are left out here" in short
    # In the chat it is not shortened.
    assert environment.log()[0].text == text


def test_a_message_longer_than_the_size_of_its_model_is_shortened_before_the_request(environment, settings):
    settings.LLM_CONTEXT_SIZE = 8_000
    environment.post("older " * 5_000, wake="nobody")
    environment.post("BEGIN " + "字" * 50_000 + " END")
    assert outcome(environment)[0] == ("completed", "")
    [asked] = environment.model.requests
    sent = asked.body["messages"][1:]
    assert len(sent) == 1
    assert sum(estimate_tokens(turn["content"]) for turn in asked.body["messages"]) < 6_000
    assert sent[0]["content"].startswith("Alice: BEGIN 字字")
    assert sent[0]["content"].endswith("字 END")


def test_the_message_that_a_run_answers_is_sent_however_many_messages_follow(environment, settings):
    settings.LLM_CONTEXT_SIZE = 8_000
    engine, environment.engine = environment.engine, None
    environment.post("What is the colour of this?")
    for number in range(30):
        environment.post(f"{number} " + "x" * 2_000, wake="nobody", by=environment.team.bob)
    environment.engine = engine
    environment.submit_queued_runs()
    environment.wait_until_idle()
    sent = [turn["content"] for turn in environment.model.requests[0].body["messages"][1:]]
    assert "What is the colour of this?" in sent[0]
    assert 3 < len(sent) < 20
    assert "29 " in sent[-1]


def test_a_merge_that_is_too_long_for_its_model_fails_and_is_not_shortened(environment, engine):
    environment.model.script(mode="status", status=400, error=MODEL_IS_SMALL)
    with transaction.atomic():
        run = start_job(
            environment.team.alice,
            environment.team.workspace.id,
            kind=MERGE,
            subject_id=uuid4(),
            job_input=JobInput("long " * 5_000, {"production": "", "suggestions": []}, expected=400),
        )
    engine.submit([run.id])
    environment.wait_until_idle()
    run.refresh_from_db()
    assert (run.state, run.error_code, len(environment.model.requests)) == ("failed", "context_too_long", 1)


def test_a_chat_that_is_too_long_even_when_shortened_fails_with_that_code(environment):
    for number in range(20):
        environment.post(f"{number} " + "x" * 200, wake="nobody")
    environment.model.script(mode="status", status=400, error="prompt is too long: 210000 tokens > 200000 maximum")
    environment.post("hello")
    (state, code), _ = outcome_of_last(environment)
    assert (state, code, len(environment.model.requests)) == ("failed", "context_too_long", 5)


def outcome_of_last(environment):
    [run] = environment.wait_until_idle()
    return (run.state, run.error_code), environment.log()


def test_an_answer_cut_by_its_length_is_marked_as_incomplete(environment):
    environment.model.script(text="as far as it goes", finish="length")
    environment.post("hello")
    assert outcome(environment) == (("completed", ""), ["TEXT_MESSAGE"])
    assert environment.log()[-1].payload["incomplete"] is True


@override_settings(LLM_FIRST_TOKEN_TIMEOUT=0.3)
def test_RUN10_a_run_with_a_silent_model_fails_at_the_time_limit(environment):
    environment.model.script(mode="nofirst")
    environment.post("hello")
    assert outcome(environment) == (("failed", "timeout_first"), ["RUN_FAILED"])


@override_settings(LLM_IDLE_TIMEOUT=0.3)
def test_RUN10_a_run_whose_model_stalls_twice_fails_and_keeps_the_streamed_text(environment):
    environment.model.script(mode="stall", after=2, text="so far so good")
    environment.post("hello")
    assert outcome(environment) == (("failed", "timeout_idle"), ["TEXT_MESSAGE", "RUN_FAILED"])
    assert environment.list_answers() == ["so far"]
    assert environment.log("TEXT_MESSAGE")[-1].payload["incomplete"] is True
    # The loop requested it once more, and both connections were closed.
    assert len(environment.model.requests) == 2
    assert list(LLMCall.objects.order_by("pk").values_list("error_code", "attempt")) == [
        ("timeout_idle", 1),
        ("timeout_idle", 2),
    ]
    for number in range(2):
        environment.model.wait_until_left(number)


@override_settings(LLM_FIRST_TOKEN_TIMEOUT=0.3)
@pytest.mark.parametrize(
    ("repeated", "code"),
    [
        ({"mode": "status", "status": 401}, "refused"),
        ({"mode": "nofirst"}, "timeout_first"),
        ({"mode": "status", "status": 503, "error": "Loading model"}, "server"),
    ],
)
def test_RUN11_text_that_people_have_read_is_kept_if_the_repeated_request_brings_none(environment, repeated, code):
    environment.model.script(**repeated)
    environment.model.script(mode="cut", after=2, text="so far so good", times=1)
    environment.post("hello")
    assert outcome(environment) == (("failed", code), ["TEXT_MESSAGE", "RUN_FAILED"])
    assert environment.list_answers() == ["so far"]
    assert environment.log("TEXT_MESSAGE")[-1].payload["incomplete"] is True


def test_RUN11_the_text_of_a_repeated_request_replaces_the_first_one(environment):
    environment.model.script(mode="cut", after=1, text="another text", times=1)
    environment.model.script(mode="cut", after=2, text="so far so good", times=1)
    environment.post("hello")
    assert outcome(environment) == (("failed", "cut"), ["TEXT_MESSAGE", "RUN_FAILED"])
    assert environment.list_answers() == ["another"]


@override_settings(LLM_IDLE_TIMEOUT=0.3)
def test_RUN10_an_answer_that_stalls_after_a_tool_has_written_is_not_requested_again(environment, monkeypatch):
    monkeypatch.setattr(CurrentTime, "effect", "write")
    environment.model.script(
        calls=[{"name": "current_time", "arguments": '{"timezone": "Asia/Tokyo"}'}],
        then={"mode": "stall", "after": 2, "text": "so far so good"},
    )
    environment.post("hello")
    [approval] = environment.wait_until_waiting()
    environment.decide(approval)
    assert outcome(environment)[0] == ("failed", "timeout_idle")
    assert len(environment.model.requests) == 2


@override_settings(LLM_TOTAL_TIMEOUT=0.8)
def test_RUN10_a_run_with_an_endlessly_slow_model_fails_at_the_time_limit(environment):
    environment.model.script(mode="drip", count=500, every=0.05)
    environment.post("hello")
    assert outcome(environment)[0] == ("failed", "timeout_total")


def test_RUN20_a_request_to_a_failing_provider_is_tried_three_times_and_its_key_is_never_shown(environment):
    environment.model.script(mode="status", status=500, retry_after="0", echo_key=True)
    environment.post("hello")
    assert outcome(environment) == (("failed", "server"), ["RUN_FAILED"])
    assert len(environment.model.requests) == 3
    assert LLMCall.objects.values_list("tries", "error_code").get() == (3, "server")
    line = environment.log("RUN_FAILED")[0]
    assert line.payload["code"] == "server"
    assert "fails as scripted" in line.payload["note"]


def test_failures_of_a_model_are_counted_per_workspace(environment):
    """All use the operator's key; the failures of one workspace pause the model for no other."""
    environment.model.script(mode="status", status=500, retry_after="0")
    environment.post("hello")
    environment.wait_until_idle()
    [(key, breaker)] = _breakers.items()
    assert (key[0], breaker.failures) == (str(environment.team.workspace.id), 3)


def test_RUN20_a_run_is_answered_when_the_provider_recovers(environment):
    environment.model.script(text="here")
    environment.model.script(mode="status", status=429, retry_after="0", times=2)
    environment.post("hello")
    assert outcome(environment) == (("completed", ""), ["TEXT_MESSAGE"])
    assert LLMCall.objects.get().tries == 3


@pytest.mark.parametrize("bad", ["truncated", "doubled", "trailing", "wrong_types", "unknown_tool", "empty", "huge"])
def test_RUN12_a_malformed_call_is_not_made_and_the_run_continues(environment, bad):
    environment.model.script(mode="badtool", bad=bad, then={"text": "I give up."})
    environment.post("hello")
    assert outcome(environment) == (("completed", ""), ["TOOL_CALL", "TOOL_RESPONSE", "TEXT_MESSAGE"])
    result = environment.log("TOOL_RESPONSE")[0]
    assert result.payload["status"] == "error"
    assert environment.list_answers() == ["I give up."]


def test_RUN12_a_run_fails_after_three_malformed_answers(environment):
    environment.model.script(mode="badtool", bad="doubled", then={"mode": "badtool", "bad": "doubled"})
    environment.post("hello")
    (state, code), types = outcome(environment)
    assert (state, code) == ("failed", "malformed_calls")
    assert len(environment.model.requests) == 3
    assert types == ["TOOL_CALL", "TOOL_RESPONSE"] * 3 + ["RUN_FAILED"]


@pytest.mark.parametrize("bad", ["duplicate_ids", "empty_ids", "same_index"])
def test_RUN12_calls_with_repeated_ids_are_distinguished(environment, bad):
    environment.model.script(mode="badtool", bad=bad, then={"text": "both"})
    environment.post("hello")
    environment.wait_until_idle()
    results = [row.payload["text"] for row in environment.log("TOOL_RESPONSE")]
    assert ["Asia/Tokyo" in results[0], "Europe/Paris" in results[1]] == [True, True]
    turns = environment.model.requests[-1].body["messages"]
    assert len({call["id"] for turn in turns for call in turn.get("tool_calls") or []}) == 2


@pytest.fixture
def hanging_tool(environment):
    """A tool of Robin that never ends."""

    class Hang(Tool):
        """Wait for ever."""

        name = "hang"
        effect = "write"

        class Args(ToolArgs):
            pass

        async def run(self, ctx: ToolContext, args: ToolArgs) -> str:
            import asyncio

            await asyncio.sleep(3600)
            return ""

    register(Hang)
    environment.delete_bob_from_chat()
    spec = environment.team.robin.current_spec
    add_tool_use(spec, "hang", custom_config={"timeout_s": 0.3})
    yield
    del registry["hang"]


@pytest.mark.usefixtures("hanging_tool")
def test_RUN13_a_tool_that_hangs_ends_at_its_time_limit_and_the_model_reads_that(environment):
    environment.model.script(calls=[{"name": "hang", "arguments": "{}"}], then={"text": "no luck"})
    environment.post("hello")
    assert outcome(environment)[0] == ("completed", "")
    [result] = environment.log("TOOL_RESPONSE")
    assert result.payload["status"] == "timeout"
    assert environment.list_answers() == ["no luck"]


def test_characters_that_cannot_be_stored_do_not_fail_the_run(environment):
    environment.model.script(tokens=["a\x00b", " c"])
    environment.post("hello")
    assert outcome(environment) == (("completed", ""), ["TEXT_MESSAGE"])
    assert environment.list_answers() == ["ab c"]


@pytest.mark.parametrize(("error", "stored"), [("a\x00b", "ab"), ("a\ud800b", "a?b")])
def test_a_run_ends_also_if_the_error_of_the_server_has_characters_that_cannot_be_stored(environment, error, stored):
    environment.model.script(mode="status", status=400, error=error)
    environment.post("hello")
    [run] = environment.wait_until_idle()
    assert (run.state, run.error) == ("failed", f"The model's server answered 400: {stored}")


def test_errors_of_the_operators_key_are_not_shown_to_tenants(environment, settings, model, caplog):
    Credential.objects.all().delete()
    settings.SYSTEM_MODEL = {
        "provider": "openai_compatible",
        "api_base": model.api_base,
        "key": "operators-key-0001",
        "models": ("scripted",),
    }
    model.script(mode="status", status=401, error="Organisation org-OF-THE-OPERATOR has no quota")
    environment.post("hello")
    [run] = environment.wait_until_idle()
    assert (run.state, run.error_code) == ("failed", "refused")
    assert "org-OF-THE-OPERATOR" not in run.error
    assert "org-OF-THE-OPERATOR" in caplog.text


def test_a_run_whose_model_the_operator_does_not_offer_fails_with_that_code(environment, settings, model):
    change_spec(environment.team.robin.current_spec, model="scripted:online")
    Credential.objects.all().delete()
    settings.SYSTEM_MODEL = {
        "provider": "openai_compatible",
        "api_base": model.api_base,
        "key": "operators-key-0001",
        "models": ("scripted",),
    }
    environment.post("hello")
    [run] = environment.wait_until_idle()
    assert (run.state, run.error_code, run.attempt) == ("failed", "model_unusable", 1)
    assert "scripted:online" in run.error
    assert model.requests == []


def test_RUN20_a_hundred_runs_send_few_requests_to_a_server_that_fails(environment, settings):
    settings.RUNS_PER_WORKSPACE = settings.RUNS_PER_PERSON = settings.RUNS_PER_WORKER = 300
    environment.model.script(mode="status", status=503)
    team = environment.team
    opened_chats = [
        chats.create_chat(team.alice, team.workspace.id, title=f"{n}", actor_ids=[team.robin.id]) for n in range(100)
    ]
    for chat in opened_chats:
        environment.post("hello", chat=chat)
    environment.wait_until_idle(60)
    assert set(Run.objects.values_list("state", "attempt")) == {("failed", 1)}
    assert len(environment.model.requests) <= 300


def test_a_run_whose_provider_asks_for_a_wait_shows_when_it_is_retried(environment, monkeypatch):
    monkeypatch.setattr(retry, "ANNOUNCED_DELAY_SECONDS", 0.0)
    environment.model.script(text="at last")
    environment.model.script(mode="status", status=429, retry_after="1", times=1)
    environment.post("hello")
    waiting = environment.wait(lambda: Run.objects.filter(state="running", retry_at__isnull=False).first())
    assert waiting.to_row().retry_at == waiting.retry_at > waiting.started_at
    assert waiting.version > 1, "the chat is informed"
    assert outcome(environment) == (("completed", ""), ["TEXT_MESSAGE"])
    [run] = environment.runs()
    assert run.to_row().retry_at is None
    answer = LLMCall.objects.get(run_id=run.id)
    assert answer.created_at >= waiting.retry_at
