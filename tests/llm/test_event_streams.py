"""Every stream that the rules of server-sent events and of JSON allow is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm.adapters.openai_stream import MAX_LINE_BYTES, OpenAIStream
from llm.protocol import LLMError
from tests.llm.adapter import KEY, answer_of, build_adapter, scripted
from tests.scripted_model import ScriptedModel

__all__ = ["scripted"]

END = 'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'


def delta(content: str) -> str:
    """Return an event whose content is written as it is, with its escapes."""
    return f'data: {{"choices": [{{"index": 0, "delta": {{"content": "{content}"}}}}]}}\n\n'


SPLIT = 'data: {"choices":[{"index":0,\ndata: "delta":{"content":"x"},"finish_reason":"stop"}]}\n\n'


@pytest.mark.parametrize(
    ("body", "text"),
    [
        pytest.param(delta(r"\ud83d") + delta(r"\ude00 ok") + END, "😀 ok", id="an emoji in two halves"),
        pytest.param(delta(r"a\ud83d") + delta("b") + END, "a�b", id="a first half alone"),
        pytest.param(delta(r"a\ude00b") + END, "a�b", id="a second half alone"),
        pytest.param(delta(r"a\ud83d") + END, "a�", id="a half at the end"),
        pytest.param(delta(r"\ud83d\ude00\ud83d") + delta(r"\ude01") + END, "😀😁", id="one emoji and half of another"),
        pytest.param(
            delta(r"\ud83d") + delta("") + delta(r"\ude00") + END, "😀", id="an empty part between the halves"
        ),
        pytest.param(SPLIT + END, "x", id="one event in two lines"),
        pytest.param(SPLIT.replace("\n", "\r\n") + END, "x", id="with CRLF"),
        pytest.param(SPLIT.replace("\n", "\r") + END.replace("\n", "\r"), "x", id="with CR"),
        pytest.param(
            "".join(f"data: {part}\n" for part in '{\n"choices"\n:\n[\n{"delta"\n:{"content":\n"z"}\n}\n]\n}'.split())
            + f"\n{END}",
            "z",
            id="a line for each word",
        ),
        pytest.param(
            delta("a").replace("\n\n", "\n") + delta("b").replace("\n\n", "\n") + END, "ab", id="no empty lines"
        ),
        pytest.param("\ufeff" + delta("a") + END, "a", id="a byte order mark"),
        pytest.param(delta("a").replace("data: ", "data:") + END, "a", id="no space after the colon"),
        pytest.param(f"retry: 3\nid: 1\nevent: message\n: x\n{delta('a')}data\n\n" + END, "a", id="other fields"),
        pytest.param(delta("a\x7f\u2028b") + END, "a\x7f\u2028b", id="a line separator of Unicode is no line end"),
    ],
)
async def test_the_text_of_a_stream_is_read_whole(scripted: ScriptedModel, body: str, text: str) -> None:
    scripted.script(mode="events", events=[{"raw": body}])
    answer = await answer_of(build_adapter(scripted))
    assert (answer.text, answer.finish) == (text, "stop")


async def test_the_halves_of_a_character_are_joined_in_thinking_and_in_arguments(scripted: ScriptedModel) -> None:
    deltas = [
        r'{"reasoning_content": "a\ud83d"}',
        r'{"reasoning_content": "\ude00"}',
        r'{"tool_calls": [{"index": 0, "id": "p", "function": {"name": "x", "arguments": "{\"a\": \"\ud83d"}}]}',
        r'{"tool_calls": [{"index": 0, "function": {"arguments": "\ude01\"}"}}]}',
    ]
    body = "".join(f'data: {{"choices": [{{"delta": {one}}}]}}\n\n' for one in deltas)
    scripted.script(mode="events", events=[{"raw": body + "data: [DONE]\n\n"}])
    answer = await answer_of(build_adapter(scripted))
    assert (answer.thinking, [call.arguments for call in answer.calls]) == ("a😀", ['{"a": "😁"}'])


def test_a_byte_that_is_no_utf8_becomes_the_replacement_character() -> None:
    stream = OpenAIStream(KEY)
    list(stream.read_bytes(delta("caf_").encode().replace(b"_", b"\xe9") + END.encode()))
    assert stream.assembly.text == "caf�"


BODY = (SPLIT + delta(r"\ud83d") + delta(r"\ude00") + END).replace("\n", "\r\n").encode()


@given(st.lists(st.integers(0, len(BODY)), max_size=12))
def test_the_text_is_the_same_wherever_the_bytes_are_split(cuts: list[int]) -> None:
    stream, places = OpenAIStream(KEY), [0, *sorted(cuts), len(BODY)]
    for start, end in zip(places, places[1:], strict=False):
        list(stream.read_bytes(BODY[start:end]))
    list(stream.finish())
    assert (stream.assembly.text, stream.done) == ("x😀", True)


@pytest.mark.parametrize("line", [b'data: {"a": 1,\n', b"data: }\n"])
def test_an_endless_event_is_refused(line: bytes) -> None:
    stream = OpenAIStream(KEY)
    with pytest.raises(LLMError) as failed:
        list(stream.read_bytes(line * (MAX_LINE_BYTES // len(line[6:].strip()) + 1)))
    assert failed.value.code == "garbled"


async def test_broken_json_in_an_event_of_two_lines_is_an_error(scripted: ScriptedModel) -> None:
    scripted.script(mode="events", events=[{"raw": 'data: {"choices": [\ndata: {"delta": }]}\n\n' + END}])
    with pytest.raises(LLMError) as failed:
        await answer_of(build_adapter(scripted))
    assert (failed.value.code, failed.value.retryable) == ("garbled", True)
