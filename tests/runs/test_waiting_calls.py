"""Calls that wait for people, in the loop without a database."""

from hypothesis import given, settings
from hypothesis import strategies as st

from approvals.selectors import DecidedCall
from llm.messages import ToolCall
from tests.chaos import examples
from tests.runs.loop_harness import Crash, LoopHarness
from tests.runs.scripted_llm import ScriptedLLM, build_answer, build_calls
from tests.runs.test_loop_property import ANSWERS, MAX_STEPS, MOMENTS
from tests.runs.test_toolbox import build_toolbox

LOOK, SEND, NOTE = ("look_up", '{"n": 1}'), ("send", '{"n": 2}'), ("note", '{"n": 3}')


async def run(harness: LoopHarness, *script) -> ScriptedLLM:
    llm = ScriptedLLM(script)
    await harness.process(llm, max_steps=10)
    return llm


async def test_reads_and_calls_before_are_made_and_calls_after_wait():
    harness = LoopHarness(asks_for=frozenset({"send"}))
    llm = await run(harness, build_calls(NOTE, SEND, LOOK, NOTE))
    assert harness.list_texts("TOOL_RESPONSE") == ["noted 3", "saw 1"]
    [end] = harness.ends
    assert (end.how, [request.call.name for request in end.requests]) == ("waiting_approval", ["send"])
    assert len(llm.requests) == 1
    harness.decide(lambda call_id: True)
    llm = await run(harness, build_answer("sent"))
    assert harness.list_texts("TOOL_RESPONSE") == ["noted 3", "saw 1", "sent 2", "noted 3"]
    assert harness.list_texts() == ["sent"]


async def test_all_calls_of_an_answer_that_need_a_decision_are_asked_at_once():
    harness = LoopHarness(asks_for=frozenset({"send", "note"}))
    await run(harness, build_calls(SEND, NOTE, ("send", '{"n": 9}')))
    [end] = harness.ends
    assert [request.call.arguments for request in end.requests] == ['{"n": 2}', '{"n": 3}', '{"n": 9}']
    assert harness.executions == []


async def test_a_refused_call_is_not_made_and_the_model_goes_on():
    harness = LoopHarness(asks_for=frozenset({"send"}))
    await run(harness, build_calls(SEND, NOTE))
    harness.decide(lambda call_id: False)
    await run(harness, build_answer("as you wish"))
    assert harness.statuses() == ["rejected", "ok"]
    assert [harness.started[id] for id in harness.executions] == ["note"]
    assert harness.list_texts() == ["as you wish"]


async def test_an_approved_call_is_made_with_the_edited_arguments():
    harness = LoopHarness(asks_for=frozenset({"send"}))
    await run(harness, build_calls(SEND))
    [request] = harness.ends.pop().requests
    harness.decided[request.call.id] = DecidedCall('{"n": 77}', None)
    await run(harness, build_answer("done"))
    assert harness.list_texts("TOOL_RESPONSE") == ["sent 77"]


async def test_edited_arguments_that_the_tool_does_not_accept_are_an_error():
    harness = LoopHarness(asks_for=frozenset({"send"}))
    await run(harness, build_calls(SEND))
    [request] = harness.ends.pop().requests
    harness.decided[request.call.id] = DecidedCall('{"n": "x"}', None)
    await run(harness, build_answer("done"))
    assert (harness.statuses(), harness.executions) == (["error"], [])


async def test_a_malformed_call_asks_nobody():
    harness = LoopHarness(asks_for=frozenset({"send"}))
    await run(harness, build_calls(("send", '{"n": "x"}')), build_answer("sorry"))
    assert (harness.statuses(), harness.ends) == (["error"], [])


async def test_a_stop_comes_before_asking():
    harness = LoopHarness(asks_for=frozenset({"send"}), stop_at=3)
    await run(harness, build_calls(LOOK, SEND))
    assert [end.how for end in harness.ends] == ["stopped"]


async def test_where_nobody_can_be_asked_a_call_that_needs_it_is_refused():
    toolbox = build_toolbox(lambda tool, ctx, args: "done")
    toolbox.find_consent = None
    [batch] = [batch async for batch in toolbox.build_batches([ToolCall("call_1", "it", "{}")], is_answer_cut=False)]
    assert [(result.status, "nobody can be asked" in result.text) for result in batch.known] == [("rejected", True)]
    assert toolbox.requests == []


@settings(max_examples=examples(150), deadline=None)
@given(
    script=st.lists(ANSWERS, max_size=8),
    crash_at=MOMENTS,
    asks_for=st.frozensets(st.sampled_from(["send", "note", "look_up"])),
    verdicts=st.lists(st.booleans(), min_size=40, max_size=40),
)
async def test_RUN19_a_call_is_made_only_after_its_decision_in_random_scripts(script, crash_at, asks_for, verdicts):
    harness = LoopHarness(crash_at=crash_at, asks_for=asks_for)
    chosen: dict[str, bool] = {}

    def choose(call_id: str) -> bool:
        return chosen.setdefault(call_id, verdicts[len(chosen) % len(verdicts)])

    for _ in range(len(crash_at) + 20):
        try:
            await harness.process(ScriptedLLM(script[harness.steps_done :]), max_steps=MAX_STEPS)
        except Crash:
            if not harness.ends:
                continue
        if not harness.ends or harness.ends[-1].how != "waiting_approval":
            break
        assert not {request.call.id for request in harness.ends[-1].requests} & set(harness.executions)
        harness.decide(choose)
    else:
        raise AssertionError("It did not come to an end.")
    assert len(harness.requested) == len(set(harness.requested))
    made = [call_id for call_id in harness.executions if harness.started[call_id] in asks_for & {"send", "note"}]
    assert {chosen.get(call_id) for call_id in made} <= {True}
