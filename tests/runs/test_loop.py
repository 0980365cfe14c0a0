"""The loop, step by step, in a harness without a database."""

import re
from itertools import pairwise
from uuid import uuid4

import pytest

from context.transcript import LogEntry
from llm.context_window import DEFAULT_BUDGET, LEFT_OUT, estimate_tokens_of_turns
from llm.messages import Turn
from llm.protocol import LLMError
from llm.sent_requests import Section
from runs.runtime.conversation import Conversation
from runs.runtime.steps import StepId, StepSaved
from tests.runs.loop_harness import ALICE, LoopHarness
from tests.runs.scripted_llm import ScriptedLLM, build_answer, build_calls

OK = ("look_up", '{"n": 1}')


async def run(script, harness=None, *, max_steps=10):
    harness, llm = harness or LoopHarness(), ScriptedLLM(script)
    await harness.process(llm, max_steps=max_steps)
    return harness, llm


async def test_an_answer_without_a_call_ends_the_run():
    harness, llm = await run([build_answer("hello")])
    assert harness.list_texts() == ["hello"]
    assert len(llm.requests) == 1


async def test_a_call_is_made_and_the_model_asked_with_its_result():
    harness, llm = await run([build_calls(OK), build_answer("it is 1")])
    assert harness.list_texts("TOOL_RESPONSE") == ["saw 1"]
    assert [turn.role for turn in llm.requests[1].turns] == ["system", "user", "assistant", "tool"]
    assert harness.list_texts() == ["it is 1"]


async def test_calls_are_made_in_the_order_of_the_model_and_only_reads_concurrently():
    calls = [("look_up", '{"n": 1}'), ("look_up", '{"n": 2}'), ("send", '{"n": 3}'), ("look_up", '{"n": 4}')]
    harness, _ = await run([build_calls(*calls)])
    assert harness.list_texts("TOOL_RESPONSE") == ["saw 1", "saw 2", "sent 3", "saw 4"]
    # three batches, each started and finished, and two answers
    assert harness.stores == 8


async def test_new_messages_are_added_after_the_results_and_before_the_next_request():
    harness, llm = await run([build_calls(OK)], LoopHarness(news_at=frozenset({3})))
    assert [turn.text for turn in llm.requests[1].turns[-2:]] == ["saw 1", "news 3"]


async def test_a_stop_that_comes_with_a_stored_step_ends_the_run_before_the_model_is_asked_again():
    harness, llm = await run([build_calls(OK, ("send", '{"n": 2}'))], LoopHarness(stop_at=3))
    assert [end.how for end in harness.ends] == ["stopped"]
    assert len(llm.requests) == 1
    assert harness.list_texts("TOOL_RESPONSE") == ["saw 1"]


async def test_a_run_ends_within_max_steps():
    harness, llm = await run([build_calls(("look_up", f'{{"n": {n}}}')) for n in range(99)], max_steps=4)
    assert len(llm.requests) == 4
    assert [end.code for end in harness.ends] == ["step_limit"]
    assert harness.statuses() == ["ok"] * 4


async def test_an_error_of_the_model_is_raised():
    with pytest.raises(LLMError, match="busy"):
        await run([LLMError("rate_limited", "busy")])


BAD = {
    "truncated": '{"n": ',
    "doubled": "{}{}",
    "trailing": '{"n": 1}<|call|>',
    "wrong_types": '{"n": "1"}',
    "unknown_field": '{"n": 1, "m": 2}',
    "not_an_object": "[1]",
    "missing": "{}",
    "empty": "",
    "huge": '{"n": ' + "1" * 1_000_000 + "}",
    "surrogate": '{"n": "\ud800\x00"}',
}


@pytest.mark.parametrize("kind", BAD)
async def test_RUN12_a_malformed_call_is_never_made_and_the_model_reads_why(kind):
    harness, llm = await run([build_calls(("note", BAD[kind])), build_answer("sorry")])
    assert harness.executions == []
    assert harness.statuses() == ["error"]
    assert "was not made" in harness.list_texts("TOOL_RESPONSE")[0]
    assert harness.list_texts() == ["sorry"]
    assert sum(len(call.arguments) for turn in llm.requests[1].turns for call in turn.calls) < 300_000


async def test_RUN12_an_unknown_tool_is_never_called_and_the_model_reads_which_tools_exist():
    harness, _ = await run([build_calls(("no_such", '{"n": 1}'))])
    assert harness.list_texts("TOOL_RESPONSE") == ["There is no tool 'no_such'. There are: look_up, send, note."]


async def test_RUN12_three_malformed_answers_in_a_row_end_the_run():
    harness, llm = await run([build_calls(("note", "{}{}"))] * 9)
    assert len(llm.requests) == 3
    assert harness.executions == []
    assert [end.code for end in harness.ends] == ["malformed_calls"]


async def test_RUN12_a_valid_call_between_malformed_ones_lets_the_run_continue():
    bad = build_calls(("note", "{"))
    harness, llm = await run([bad, bad, build_calls(OK), bad, bad, build_answer("done")])
    assert harness.ends == []
    assert harness.list_texts() == ["done"]


async def test_RUN12_calls_with_empty_or_repeated_provider_ids_are_distinguished():
    harness, llm = await run([build_calls(("look_up", '{"n": 1}'), ("look_up", '{"n": 2}')), build_answer("both")])
    ids = [call.id for turn in llm.requests[1].turns for call in turn.calls]
    assert len(set(ids)) == 2
    assert harness.list_texts("TOOL_RESPONSE") == ["saw 1", "saw 2"]


async def test_RUN12_an_answer_cut_by_its_length_makes_no_call():
    harness, _ = await run([build_calls(("note", '{"n": 1}'), finish="length"), build_answer("shorter")])
    assert harness.executions == []
    assert "cut off by its length limit" in harness.list_texts("TOOL_RESPONSE")[0]


async def test_the_same_call_three_times_in_a_row_is_not_made_a_third_time():
    same = [
        build_calls(("note", '{"n": 1}')),
        build_calls(("note", '{ "n":1 }')),
        build_calls(("note", '{"n": 1}')),
        build_answer("ok"),
    ]
    harness, _ = await run(same)
    assert harness.list_texts("TOOL_RESPONSE")[:2] == ["noted 1", "noted 1"]
    assert "2 times in a row" in harness.list_texts("TOOL_RESPONSE")[2]
    assert len(harness.executions) == 2


async def test_RUN12_calls_after_two_whose_arguments_are_nested_very_deeply_are_made():
    deep = build_calls(("note", "[" * 100_000))
    harness, _ = await run([deep, deep, build_calls(("note", '{"n": 1}')), build_answer("ok")])
    assert harness.list_texts("TOOL_RESPONSE")[2] == "noted 1"
    assert len(harness.executions) == 1


def broken_off(code="cut"):
    return LLMError(code, "It broke off.", retryable=True, partial_text="so far so")


@pytest.mark.parametrize("code", ["cut", "server", "timeout_idle"])
async def test_RUN11_an_answer_that_breaks_off_in_the_middle_is_requested_once_more(code):
    harness, llm = await run([broken_off(code), build_answer("whole")])
    assert harness.list_texts() == ["whole"]
    assert harness.retries == [code]
    assert llm.requests[0].turns == llm.requests[1].turns


async def test_RUN11_each_answer_is_requested_only_once_more():
    harness, llm = (
        LoopHarness(),
        ScriptedLLM([broken_off(), build_calls(OK), broken_off(), broken_off(), build_answer("never")]),
    )
    with pytest.raises(LLMError, match="broke off"):
        await harness.process(llm, max_steps=10)
    assert harness.retries == ["cut", "cut"]
    assert len(llm.requests) == 4


@pytest.mark.parametrize("code", ["cut", "server", "timeout_idle"])
async def test_RUN11_after_a_tool_has_written_no_answer_is_requested_again(code):
    harness, llm = (
        LoopHarness(),
        ScriptedLLM([build_calls(("send", '{"n": 1}')), broken_off(code), build_answer("never")]),
    )
    with pytest.raises(LLMError):
        await harness.process(llm, max_steps=10)
    assert (harness.retries, len(llm.requests)) == ([], 2)


async def test_an_answer_without_a_chunk_is_not_requested_again_by_the_loop():
    harness, llm = LoopHarness(), ScriptedLLM([LLMError("cut", "It broke off.", retryable=True), build_answer("never")])
    with pytest.raises(LLMError):
        await harness.process(llm, max_steps=10)
    assert (harness.retries, len(llm.requests)) == ([], 1)


async def test_a_conversation_that_is_too_long_is_shortened():
    harness = LoopHarness()
    harness.lines += [LogEntry(uuid4(), "TEXT_MESSAGE", ALICE.id, {"text": f"{n} " + "x" * 400}) for n in range(20)]
    too_long = LLMError("context_too_long", "too long")
    _, llm = await run([too_long, build_calls(OK), build_answer("ok")], harness)
    assert harness.retries == ["context_too_long"]
    assert len(llm.requests[1].turns) < 13
    assert llm.requests[1].turns[-1].text.startswith("19 ")
    assert llm.requests[1].turns[0].text.endswith(LEFT_OUT)
    assert len(llm.requests[2].turns) == len(llm.requests[1].turns) + 2  # it stays short


async def test_a_conversation_is_shortened_until_the_model_answers_at_most_four_times():
    harness = LoopHarness()
    harness.lines += [LogEntry(uuid4(), "TEXT_MESSAGE", ALICE.id, {"text": f"{n} " + "x" * 400}) for n in range(40)]
    _, llm = await run([TOO_LONG] * 4 + [build_answer("ok")], harness)
    sizes = [estimate_tokens_of_turns(request.turns) for request in llm.requests]
    assert all(after < 0.7 * before for before, after in pairwise(sizes))
    with pytest.raises(LLMError):
        await run([TOO_LONG] * 5 + [build_answer("never")], LoopHarness(lines=harness.lines[:40]))


TOO_LONG = LLMError("context_too_long", "too long")


async def test_a_single_message_that_is_too_long_is_cut_to_half():
    harness = LoopHarness()
    text = "".join(f"{n:04} " for n in range(2_000))
    harness.lines = [LogEntry(uuid4(), "TEXT_MESSAGE", ALICE.id, {"text": text})]
    _, llm = await run([TOO_LONG, build_answer("ok")], harness)
    assert harness.retries == ["context_too_long"]
    long, short = (request.turns[-1].text for request in llm.requests)
    assert long == text
    assert len(short) < 0.51 * len(text)
    assert (short[:10], short[-10:]) == ("0000 0001 ", "1998 1999 ")
    assert re.search(
        r"\n\[5,\d\d\d characters are left out here, because the whole is too long for this model.\]\n", short
    )


async def test_a_short_conversation_that_a_model_finds_too_long_is_not_sent_again():
    harness, llm = LoopHarness(), ScriptedLLM([TOO_LONG, build_answer("never")])
    with pytest.raises(LLMError):
        await harness.process(llm, max_steps=10)
    assert (harness.retries, len(llm.requests)) == ([], 1)


async def test_a_conversation_is_shortened_once_per_answer():
    harness = LoopHarness()
    harness.lines += [LogEntry(uuid4(), "TEXT_MESSAGE", ALICE.id, {"text": f"{n} " + "x" * 4_000}) for n in range(8)]
    _, llm = await run([TOO_LONG, build_calls(OK), TOO_LONG, build_answer("ok")], harness)
    assert harness.retries == ["context_too_long", "context_too_long"]
    sizes = [estimate_tokens_of_turns(request.turns) for request in llm.requests]
    assert sizes[1] < 0.6 * sizes[0]
    assert sizes[3] < 0.6 * sizes[2]
    assert harness.list_texts() == ["ok"]


def test_memory_that_was_shortened_is_removed_when_it_is_withdrawn():
    memory = "--- memory 1 ---\n" + "The code is 4711. " * 400 + "\n--- end of memory 1 ---"
    turns = [Turn("system", f"Answer.\n\n{memory}"), Turn("user", "x" * 4_000)]
    sections = (Section("prompt", "Answer."), Section("memory", memory))
    step = StepId(1, uuid4())
    conversation = Conversation(turns, step, max_context_tokens=DEFAULT_BUDGET, sections=sections)
    for _ in range(2):
        conversation.prepare_retry(TOO_LONG, was_streamed=False, has_written=False)
    short = conversation.sections[1].text
    assert len(short) < 0.3 * len(memory)
    assert short.endswith("--- end of memory 1 ---")
    assert short in conversation.turns[0].text
    conversation.advance(StepSaved(step, withdrawn_text=memory))
    assert conversation.turns[0].text == "Answer."
    assert conversation.sections[1].text == ""


async def test_the_input_of_a_job_is_never_shortened():
    """A merge of half of the texts would lose the other half."""
    harness = LoopHarness(budget=None)
    harness.lines.append(LogEntry(uuid4(), "TEXT_MESSAGE", ALICE.id, {"text": "x" * 9_000}))
    llm = ScriptedLLM([TOO_LONG, build_answer("never")])
    with pytest.raises(LLMError):
        await harness.process(llm, max_steps=10)
    assert (harness.retries, len(llm.requests)) == ([], 1)


async def test_new_messages_do_not_exceed_the_budget():
    harness = LoopHarness(budget=1_000, news_at=frozenset({3}), news="long " * 4_000)
    _, llm = await run([build_calls(OK), build_answer("ok")], harness)
    assert estimate_tokens_of_turns(llm.requests[1].turns[1:]) <= 1_000
    text = llm.requests[1].turns[-1].text
    assert text.startswith("long long")
    assert "characters are left out here" in text
