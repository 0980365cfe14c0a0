"""Models that fail, stall, break off or call nonsense, over the wire, and what is left of it in the room."""

import pytest
from django.test import override_settings

from agents.models import LLMCall
from tools.interface import Tool, ToolArgs, ToolContext
from tools.registry import register, registry

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


def outcome(workroom):
    """The run's state and code, and the room's log after the question."""
    [run] = workroom.settle()
    return (run.state, run.error_code), [row.type for row in workroom.log()[1:]]


@pytest.mark.parametrize("mode", ["cut", "cleancut"])
def test_B11_a_cut_stream_is_never_stored_as_complete(workroom, mode):
    workroom.model.script(mode=mode, after=3, text="this is only the beginning of it")
    workroom.say("hello")
    assert outcome(workroom) == (("failed", "cut"), ["TEXT_MESSAGE", "RUN_FAILED"])
    partial = workroom.log("TEXT_MESSAGE")[-1]
    assert (partial.text, partial.payload["incomplete"]) == ("this is only", True)
    assert len(workroom.model.requests) == 1


def test_B11_a_stream_cut_before_a_word_was_shown_is_asked_once_more(workroom):
    workroom.model.script(text="whole")
    workroom.model.script(mode="cut", after=0, tokens=["x"], times=1)
    workroom.say("hello")
    (state, code), _ = outcome(workroom)
    assert len(workroom.model.requests) == 2 or (state, code) == ("failed", "cut")


def test_an_answer_cut_by_its_length_is_marked_as_incomplete(workroom):
    workroom.model.script(text="as far as it goes", finish="length")
    workroom.say("hello")
    assert outcome(workroom) == (("completed", ""), ["TEXT_MESSAGE"])
    assert workroom.log()[-1].payload["incomplete"] is True


@override_settings(LLM_FIRST_TOKEN_TIMEOUT=0.3)
def test_B10_a_model_that_says_nothing_fails_at_the_limit(workroom):
    workroom.model.script(mode="nofirst")
    workroom.say("hello")
    assert outcome(workroom) == (("failed", "timeout_first"), ["RUN_FAILED"])


@override_settings(LLM_IDLE_TIMEOUT=0.3)
def test_B10_a_model_that_stalls_fails_at_the_limit_and_its_words_are_kept(workroom):
    workroom.model.script(mode="stall", after=2, text="so far so good")
    workroom.say("hello")
    assert outcome(workroom) == (("failed", "timeout_idle"), ["TEXT_MESSAGE", "RUN_FAILED"])
    assert workroom.said() == ["so far"]


@override_settings(LLM_TOTAL_TIMEOUT=0.8)
def test_B10_a_model_that_drips_for_ever_fails_at_the_limit(workroom):
    workroom.model.script(mode="drip", count=500, every=0.05)
    workroom.say("hello")
    assert outcome(workroom)[0] == ("failed", "timeout_total")


def test_B20_a_failing_provider_is_asked_three_times_and_its_key_never_shows(workroom):
    workroom.model.script(mode="status", status=500, retry_after="0", echo_key=True)
    workroom.say("hello")
    assert outcome(workroom) == (("failed", "server"), ["RUN_FAILED"])
    assert len(workroom.model.requests) == 3
    assert LLMCall.objects.values_list("tries", "error_code").get() == (3, "server")
    line = workroom.log("RUN_FAILED")[0]
    assert line.payload["code"] == "server"
    assert "fails as it was told" in line.payload["note"]


def test_B20_a_provider_that_recovers_is_answered(workroom):
    workroom.model.script(text="here")
    workroom.model.script(mode="status", status=429, retry_after="0", times=2)
    workroom.say("hello")
    assert outcome(workroom) == (("completed", ""), ["TEXT_MESSAGE"])
    assert LLMCall.objects.get().tries == 3


@pytest.mark.parametrize("bad", ["truncated", "doubled", "trailing", "wrong_types", "unknown_tool", "empty", "huge"])
def test_B12_a_malformed_call_is_not_made_and_the_model_may_go_on(workroom, bad):
    workroom.model.script(mode="badtool", bad=bad, then={"text": "I give up."})
    workroom.say("hello")
    assert outcome(workroom) == (("completed", ""), ["TOOL_CALL", "TOOL_RESPONSE", "TEXT_MESSAGE"])
    result = workroom.log("TOOL_RESPONSE")[0]
    assert result.payload["status"] == "error"
    assert workroom.said() == ["I give up."]


def test_B12_a_model_that_never_learns_ends_after_three(workroom):
    workroom.model.script(mode="badtool", bad="doubled", then={"mode": "badtool", "bad": "doubled"})
    workroom.say("hello")
    (state, code), types = outcome(workroom)
    assert (state, code) == ("failed", "malformed_calls")
    assert len(workroom.model.requests) == 3
    assert types == ["TOOL_CALL", "TOOL_RESPONSE"] * 3 + ["RUN_FAILED"]


@pytest.mark.parametrize("bad", ["duplicate_ids", "empty_ids", "same_index"])
def test_B12_calls_with_useless_ids_are_told_apart(workroom, bad):
    workroom.model.script(mode="badtool", bad=bad, then={"text": "both"})
    workroom.say("hello")
    workroom.settle()
    results = [row.payload["text"] for row in workroom.log("TOOL_RESPONSE")]
    assert ["Asia/Tokyo" in results[0], "Europe/Paris" in results[1]] == [True, True]
    turns = workroom.model.requests[-1].body["messages"]
    assert len({call["id"] for turn in turns for call in turn.get("tool_calls") or []}) == 2


@pytest.fixture
def hanging_tool(workroom):
    """A tool that never comes to an end, given to robin."""

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
    spec = workroom.team.robin.current_spec
    spec.tool_configs.create(position=9, tool="hang", custom_config={"timeout_s": 0.3})
    yield
    del registry["hang"]


@pytest.mark.usefixtures("hanging_tool")
def test_B13_a_tool_that_hangs_is_given_up_at_its_limit_and_the_model_is_told(workroom):
    workroom.model.script(calls=[{"name": "hang", "arguments": "{}"}], then={"text": "no luck"})
    workroom.say("hello")
    assert outcome(workroom)[0] == ("completed", "")
    [result] = workroom.log("TOOL_RESPONSE")
    assert result.payload["status"] == "timeout"
    assert workroom.said() == ["no luck"]


def test_what_cannot_be_stored_as_it_is_does_not_break_the_run(workroom):
    workroom.model.script(tokens=["a\x00b", " c"])
    workroom.say("hello")
    assert outcome(workroom) == (("completed", ""), ["TEXT_MESSAGE"])
    assert workroom.said() == ["ab c"]
