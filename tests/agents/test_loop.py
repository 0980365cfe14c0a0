"""The loop, step by step, in a house without a database."""

import pytest

from agents.llm.protocol import LLMError
from agents.runtime.testing import ScriptedLLM, called, said
from tests.agents.loop_house import House

OK = ("look", '{"n": 1}')


async def run(script, house=None, *, max_steps=10):
    house, llm = house or House(), ScriptedLLM(script)
    await house.process(llm, max_steps=max_steps)
    return house, llm


async def test_an_answer_without_a_call_ends_the_run():
    house, llm = await run([said("hello")])
    assert house.said() == ["hello"]
    assert len(llm.requests) == 1


async def test_a_call_is_made_and_its_result_is_asked_about():
    house, llm = await run([called(OK), said("it is 1")])
    assert house.said("TOOL_RESPONSE") == ["saw 1"]
    assert [turn.role for turn in llm.requests[1].turns] == ["system", "user", "assistant", "tool"]
    assert house.said() == ["it is 1"]


async def test_calls_settle_in_the_models_order_and_only_reading_goes_together():
    calls = [("look", '{"n": 1}'), ("look", '{"n": 2}'), ("send", '{"n": 3}'), ("look", '{"n": 4}')]
    house, _ = await run([called(*calls)])
    assert house.said("TOOL_RESPONSE") == ["saw 1", "saw 2", "sent 3", "saw 4"]
    # three batches, each started and settled, and two answers
    assert house.stores == 8


async def test_what_is_said_meanwhile_is_taken_in_after_the_results_and_before_the_next_question():
    house, llm = await run([called(OK)], House(news_at=frozenset({3})))
    assert [turn.text for turn in llm.requests[1].turns[-2:]] == ["saw 1", "news 3"]


async def test_a_stop_that_comes_with_a_stored_step_ends_the_run_before_the_model_is_asked_again():
    house, llm = await run([called(OK, ("send", '{"n": 2}'))], House(stop_at=3))
    assert [end.how for end in house.ends] == ["stopped"]
    assert len(llm.requests) == 1
    assert house.said("TOOL_RESPONSE") == ["saw 1"]


async def test_it_ends_within_max_steps():
    house, llm = await run([called(("look", f'{{"n": {n}}}')) for n in range(99)], max_steps=4)
    assert len(llm.requests) == 4
    assert [end.code for end in house.ends] == ["step_limit"]
    assert house.statuses() == ["ok"] * 4


async def test_the_models_error_comes_through():
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
async def test_B12_a_malformed_call_is_never_made_and_the_model_is_told(kind):
    house, llm = await run([called(("note", BAD[kind])), said("sorry")])
    assert house.executions == []
    assert house.statuses() == ["error"]
    assert "was not made" in house.said("TOOL_RESPONSE")[0]
    assert house.said() == ["sorry"]
    assert sum(len(call.arguments) for turn in llm.requests[1].turns for call in turn.calls) < 300_000


async def test_B12_an_unknown_tool_is_never_made_and_the_model_hears_which_there_are():
    house, _ = await run([called(("no_such", '{"n": 1}'))])
    assert house.said("TOOL_RESPONSE") == ["There is no tool 'no_such'. There are: look, send, note."]


async def test_B12_three_malformed_answers_in_a_row_end_the_run():
    house, llm = await run([called(("note", "{}{}"))] * 9)
    assert len(llm.requests) == 3
    assert house.executions == []
    assert [end.code for end in house.ends] == ["malformed_calls"]


async def test_B12_a_good_call_between_bad_ones_lets_the_run_go_on():
    bad = called(("note", "{"))
    house, llm = await run([bad, bad, called(OK), bad, bad, said("done")])
    assert house.ends == []
    assert house.said() == ["done"]


async def test_B12_calls_whose_provider_ids_are_empty_or_doubled_are_told_apart():
    house, llm = await run([called(("look", '{"n": 1}'), ("look", '{"n": 2}')), said("both")])
    ids = [call.id for turn in llm.requests[1].turns for call in turn.calls]
    assert len(set(ids)) == 2
    assert house.said("TOOL_RESPONSE") == ["saw 1", "saw 2"]


async def test_B12_an_answer_cut_by_its_length_makes_no_call():
    house, _ = await run([called(("note", '{"n": 1}'), finish="length"), said("shorter")])
    assert house.executions == []
    assert "cut off by its length limit" in house.said("TOOL_RESPONSE")[0]


async def test_the_same_call_three_times_in_a_row_is_not_made_a_third_time():
    same = [called(("note", '{"n": 1}')), called(("note", '{ "n":1 }')), called(("note", '{"n": 1}')), said("ok")]
    house, _ = await run(same)
    assert house.said("TOOL_RESPONSE")[:2] == ["noted 1", "noted 1"]
    assert "2 times in a row" in house.said("TOOL_RESPONSE")[2]
    assert len(house.executions) == 2
