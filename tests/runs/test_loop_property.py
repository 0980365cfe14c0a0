"""Random scripts of answers, malformed calls, new messages, stops and crashes, and the rules that always hold."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.chaos import examples
from tests.runs.loop_harness import Crash, LoopHarness
from tests.runs.scripted_llm import ScriptedLLM, build_answer, build_calls

ARGUMENTS = st.sampled_from(['{"n": 1}', '{"n": 2}', '{"n": -1}', "{}{}", "", '{"n": "x"}', '{"n": 1}<|call|>'])
CALLS = st.tuples(st.sampled_from(["look_up", "send", "note", "ghost"]), ARGUMENTS)
ANSWERS = st.one_of(
    st.builds(build_answer, st.sampled_from(["fine", "a longer answer"])),
    st.lists(CALLS, min_size=1, max_size=4).map(lambda calls: build_calls(*calls)),
    st.lists(CALLS, min_size=1, max_size=2).map(lambda calls: build_calls(*calls, finish="length", text="so")),
)
MOMENTS = st.frozensets(st.integers(1, 60), max_size=5)
MAX_STEPS = 5


@settings(max_examples=examples(300), deadline=None)
@given(script=st.lists(ANSWERS, max_size=8), crash_at=MOMENTS, news_at=MOMENTS, stop_at=st.integers(-1, 12))
async def test_RUN1_calls_are_made_once_and_every_conversation_is_valid_in_random_scripts(
    script, crash_at, news_at, stop_at
):
    harness = LoopHarness(crash_at=crash_at, news_at=news_at, stop_at=stop_at)
    asked = 0
    for _ in range(len(crash_at) + 1):
        # A stored answer is not requested again; a lost one is.
        llm = ScriptedLLM(script[harness.steps_done :])
        try:
            # `ScriptedLLM` raises when it is asked with an unanswered call; `LoopHarness` when a start was not recorded.
            await harness.process(llm, max_steps=MAX_STEPS)
        except Crash:
            asked += len(llm.requests)
            continue
        asked += len(llm.requests)
        break
    else:
        raise AssertionError("It did not come to an end.")
    assert harness.steps_done <= MAX_STEPS
    assert asked <= MAX_STEPS + harness.crashes
    runs = Counter(harness.executions)
    assert [id for id, times in runs.items() if times > 1 and harness.started[id] != "look_up"] == []
    answered = Counter(line.payload["tool_call_id"] for line in harness.lines if line.type == "TOOL_RESPONSE")
    assert [id for id, times in answered.items() if times > 1] == []
    made = {line.payload["call_id"] for line in harness.lines if line.type == "TOOL_CALL"}
    assert answered.keys() <= made
    if not harness.ends:
        assert answered.keys() == made
        assert harness.list_texts()
