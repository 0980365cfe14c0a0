"""Thinking in whatever form it comes is no part of the answer, a refusal is an answer, and a part without a text is nothing."""

from typing import Any

import pytest

from llm.messages import Chunk, ModelRequest, Turn
from tests.llm.adapter import answer_of, build_adapter, deltas, parts_of, scripted
from tests.scripted_model import ScriptedModel

__all__ = ["scripted"]

TAGGED = "<think>\nSECRET THOUGHT\n</think>\n\nThe answer is 2."


def texts(*parts: str) -> list[dict[str, Any]]:
    return [{"content": part} for part in parts]


def part(type: str, **fields: Any) -> dict[str, Any]:
    return {"content": [{"type": type, **fields}]}


@pytest.mark.parametrize(
    ("sent", "thinking", "text"),
    [
        pytest.param(texts(TAGGED), "\nSECRET THOUGHT\n", "The answer is 2.", id="tags in one delta"),
        pytest.param(texts(*TAGGED), "\nSECRET THOUGHT\n", "The answer is 2.", id="tags split over deltas"),
        pytest.param(texts("\n\n", "<thi", "nk>a </th", "e </thin", "k>\n", "\nb"), "a </the ", "b", id="false ends"),
        pytest.param(texts("[THINK]a[/THI", "NK] b"), "a", "b", id="tags of another model"),
        pytest.param(texts("<thought>a</thought>b"), "a", "b", id="tags of a third model"),
        pytest.param(texts("<think></think>", " b"), "", "b", id="no thoughts between the tags"),
        pytest.param(texts("<think>a"), "a", "", id="a tag without an end"),
        pytest.param(texts("<think>a</th"), "a</th", "", id="half a tag at the end"),
        pytest.param(texts("<think>a</think>b <think>c</think>"), "a", "b <think>c</think>", id="a later tag is text"),
        pytest.param(texts("Write <think> first."), "", "Write <think> first.", id="a tag in the answer is text"),
        pytest.param(texts("<", "b>x</b>"), "", "<b>x</b>", id="another tag at the start is text"),
        pytest.param(texts(" \n", "<th"), "", " \n<th", id="an answer that ends like the start of a tag"),
        pytest.param(
            [part("thinking", thinking=[{"type": "text", "text": "THOUGHT"}]), part("text", text="It is 2.")],
            "THOUGHT",
            "It is 2.",
            id="Mistral",
        ),
        pytest.param(
            [part("thinking", thinking="a "), part("reasoning", text="b"), *texts("c")], "a b", "c", id="other parts"
        ),
        pytest.param(
            [{"content": [{"type": "thinking", "thinking": "a"}, {"type": "text", "text": "b"}, "c"]}],
            "a",
            "bc",
            id="several parts in one delta",
        ),
        pytest.param(
            [{"content": {"type": "text", "text": "<think>a</think>b"}}], "a", "b", id="one part instead of a list"
        ),
        pytest.param(
            [*texts("part one "), part("text", text=None), *texts("part two")], "", "part one part two", id="null"
        ),
        pytest.param([part("text"), part("thinking", thinking=None), *texts("a")], "", "a", id="parts without a text"),
        pytest.param([part("image_url", image_url={"url": "x"}), *texts("a")], "", "a", id="a part that is no text"),
        pytest.param([{"content": [None, 1]}, *texts("a")], "", "a", id="parts that are none"),
        pytest.param([{"refusal": "I cannot help with that."}], "", "I cannot help with that.", id="a refusal"),
        pytest.param(
            [{"content": None, "refusal": "I "}, {"refusal": "cannot."}], "", "I cannot.", id="a refusal in two deltas"
        ),
        pytest.param([part("refusal", refusal="I cannot.")], "", "I cannot.", id="a refusal as a part"),
        pytest.param([{"content": "a", "refusal": None}], "", "a", id="no refusal"),
    ],
)
async def test_thinking_is_no_part_of_the_answer(
    scripted: ScriptedModel, sent: list[dict[str, Any]], thinking: str, text: str
) -> None:
    scripted.script(mode="events", events=deltas(*sent))
    *chunks, _ = parts = await parts_of(build_adapter(scripted))
    answer = parts[-1]
    assert not isinstance(answer, Chunk)
    assert (answer.thinking, answer.text, answer.finish) == (thinking, text, "stop")
    # What clients show while it streams is the same.
    shown = {"thinking": "", "text": ""}
    for chunk in chunks:
        assert isinstance(chunk, Chunk)
        shown[chunk.part] += chunk.text
    assert shown == {"thinking": thinking, "text": text}


async def test_the_thinking_of_a_server_that_does_not_stream_is_no_part_of_the_answer(scripted: ScriptedModel) -> None:
    scripted.script(text=TAGGED, streams=False)
    answer = await answer_of(build_adapter(scripted))
    assert (answer.thinking, answer.text) == ("\nSECRET THOUGHT\n", "The answer is 2.")


async def test_thinking_in_tags_is_not_sent_back_with_the_calls_of_its_answer(scripted: ScriptedModel) -> None:
    call = {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}}
    scripted.script(mode="events", events=deltas({"content": TAGGED}, {"tool_calls": [call]}, finish="tool_calls"))
    answer = await answer_of(build_adapter(scripted))
    turns = [
        Turn("assistant", answer.text, calls=answer.calls, provider_fields=answer.provider_fields),
        Turn("tool", "Noon.", call_id=answer.calls[0].id),
    ]
    scripted.script(text="Done.")
    await answer_of(build_adapter(scripted), ModelRequest("scripted", turns))
    assert scripted.requests[-1].body["messages"][0]["content"] == "The answer is 2."
    assert "SECRET THOUGHT" not in str(scripted.requests[-1].body)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_thinking_in_tags_is_shown_and_is_not_in_later_requests(environment):
    environment.model.script(text=TAGGED, times=1)
    environment.post("How much is 1 + 1?")
    environment.wait_until_idle()
    [thought] = environment.log("THINKING")
    assert (thought.payload["text"].strip(), environment.list_answers()) == ("SECRET THOUGHT", ["The answer is 2."])
    environment.post("And 2 + 2?")
    environment.wait_until_idle()
    sent = environment.model.requests[-1].body["messages"]
    assert [message["content"] for message in sent if message["role"] == "assistant"] == ["The answer is 2."]
    assert "SECRET THOUGHT" not in str(sent)
