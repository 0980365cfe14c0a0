"""The OpenAI adapter: bytes in parts of any size, connections, hosts, and peculiarities of servers."""

import json
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from common.bounded import BoundedMap
from common.egress import close_sessions
from common.secrets import Secret
from llm import client as llm_client
from llm.adapters import openai
from llm.adapters.assembly import normalize_finish
from llm.adapters.openai import OpenAIAdapter
from llm.adapters.openai_format import build_messages
from llm.adapters.openai_stream import OpenAIStream
from llm.errors import build_status_error, build_stream_error, parse_retry_after, redact
from llm.messages import Chunk, ModelRequest, ProviderFields, ToolCall, ToolSchema, Turn
from llm.model_list import list_models
from llm.prices import build_usage
from llm.protocol import Endpoint, LLMError, Timeouts
from tests.hostile_web import ConnectionRecorder, FakeDns
from tests.llm.adapter import ASK, KEY, answer_of, build_adapter, events, failure_of, scripted
from tests.scripted_model import ScriptedModel

__all__ = ["scripted"]


# --- the stream ---------------------------------------------------------------------------------------------------


def frames(*deltas: dict[str, Any], finish: str | None = "stop", end: str = "data: [DONE]\n\n") -> bytes:
    chunks = [{"model": "m", "choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    if finish:
        chunks.append({"model": "m", "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return ("".join(f"data: {json.dumps(c, ensure_ascii=False)}\n\n" for c in chunks) + end).encode()


def read(*parts: bytes) -> tuple[list[Chunk], OpenAIStream]:
    stream = OpenAIStream(KEY)
    chunks = [chunk for part in parts for chunk in stream.read_bytes(part)]
    return chunks + list(stream.finish()), stream


SAMPLE = (
    frames(
        {"role": "assistant", "content": ""},
        {"reasoning_content": "想一想"},
        {"content": "你好 "},
        {"content": "world\n"},
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "x", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"a": "東'}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '京"}'}}]},
        finish="tool_calls",
        end=": keep-alive\n\nevent: x\ndata:\n\n",
    )
    + b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 5}}\r\n\r\ndata: [DONE]\r\n\r\n'
)


@given(st.lists(st.integers(0, len(SAMPLE)), max_size=12))
def test_the_answer_is_the_same_wherever_the_bytes_are_split(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(SAMPLE)]
    chunks, stream = read(*(SAMPLE[a:b] for a, b in zip(places, places[1:], strict=False)))
    assert [chunk.text for chunk in chunks] == ["想一想", "你好 ", "world\n", "", '{"a": "東', '京"}']
    assert stream.assembly.build_calls() == (ToolCall("", "x", '{"a": "東京"}', 0, "a"),)
    assert (stream.assembly.finish, stream.done) == ("tool_calls", True)
    assert stream.usage == {"prompt_tokens": 3, "completion_tokens": 5}


@example(b"\xff")
@example(b'{"choices": [')
@example(b"[" * 300)
@given(st.binary(max_size=300))
def test_SEC20_any_bytes_of_a_server_are_parsed_or_refused(data: bytes) -> None:
    try:
        read(b"data: " + data + b"\n\n")
    except LLMError:
        return  # refused in our own terms; anything else fails the test


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "choices",
                        "delta",
                        "content",
                        "tool_calls",
                        "index",
                        "id",
                        "function",
                        "name",
                        "arguments",
                        "usage",
                        "error",
                        "finish_reason",
                        "message",
                        "model",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_SEC20_any_json_of_a_server_is_parsed_or_refused(data: Any) -> None:
    call = {"choices": [{"delta": {"tool_calls": [data]}, "message": {"tool_calls": [data]}}]}
    for sent in (data, {"choices": [data]}, {"choices": [{"delta": data, "message": data}]}, call):
        for whole in (False, True):
            text = json.dumps(sent).encode()
            try:
                _, stream = read(text if whole else b"data: " + text + b"\n\n")
            except LLMError:
                continue
            build_usage(Endpoint("openai", None, KEY, "workspace"), ASK, stream.usage, stream.assembly)
            stream.assembly.build_calls()


def test_a_last_line_without_a_line_break_is_parsed() -> None:
    _, stream = read(frames({"content": "Hi"}).rstrip())
    assert (stream.assembly.text, stream.assembly.finish, stream.done) == ("Hi", "stop", True)


def test_RUN12_calls_with_one_index_are_distinguished_by_their_ids() -> None:
    """Some servers send index 0 for every call."""
    _, stream = read(
        frames(
            {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "x", "arguments": '{"n": '}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]},
            {"tool_calls": [{"index": 0, "id": "b", "function": {"name": "x", "arguments": '{"n": 2}'}}]},
            {"tool_calls": [{"index": 0, "id": "", "function": {"name": "x", "arguments": '{"n": 3}'}}]},
            finish="tool_calls",
        )
    )
    assert [call.arguments for call in stream.assembly.build_calls()] == ['{"n": 1}', '{"n": 2}', '{"n": 3}']


@pytest.mark.parametrize("blank", ["", "\n"])
def test_RUN12_a_blank_part_after_complete_arguments_does_not_join_the_next_call_to_them(blank: str) -> None:
    _, stream = read(
        frames(
            {"tool_calls": [{"index": 0, "function": {"name": "a", "arguments": "{}"}}]},
            {"tool_calls": [{"index": 0, "function": {"arguments": blank}}]},
            {"tool_calls": [{"index": 0, "function": {"name": "b", "arguments": "{}"}}]},
            finish="tool_calls",
        )
    )
    assert [(call.name, call.arguments.strip()) for call in stream.assembly.build_calls()] == [("a", "{}"), ("b", "{}")]


def test_arguments_that_are_nested_too_deeply_are_not_complete() -> None:
    _, stream = read(
        frames(
            {"tool_calls": [{"index": 0, "function": {"name": "a", "arguments": "[" * 20_000 + "}"}}]},
            {"tool_calls": [{"index": 0, "function": {"name": "b", "arguments": "{}"}}]},
            finish="tool_calls",
        )
    )
    assert [call.name for call in stream.assembly.build_calls()] == ["a"]


def test_a_delta_with_thinking_text_and_a_call_is_read_as_a_whole() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}}
    chunks, stream = read(frames({"reasoning": "Hm.", "content": "I look.", "tool_calls": [call]}, finish="tool_calls"))
    assert [(chunk.part, chunk.text) for chunk in chunks][:2] == [("thinking", "Hm."), ("text", "I look.")]
    assert [found.name for found in stream.assembly.build_calls()] == ["x"]


def test_RUN12_calls_without_an_index_or_with_the_arguments_as_an_object() -> None:
    _, stream = read(
        frames(
            {"tool_calls": [{"id": "a", "function": {"name": "x", "arguments": {"n": 1}}}]},
            {"tool_calls": [{"id": "b", "function": {"name": "y", "arguments": {}}}]},
            finish="tool_calls",
        )
    )
    assert [(call.name, call.arguments) for call in stream.assembly.build_calls()] == [("x", '{"n": 1}'), ("y", "{}")]


def test_RUN12_one_name_in_every_chunk_is_one_call() -> None:
    deltas = [
        {"tool_calls": [{"index": 0, "function": {"name": "x", "arguments": part}}]} for part in ('{"n"', ": 1", "}")
    ]
    _, stream = read(frames(*deltas, finish="tool_calls"))
    assert [call.arguments for call in stream.assembly.build_calls()] == ['{"n": 1}']


def call_delta(**fields: Any) -> dict[str, Any]:
    """Return a delta with a part of one call: `i` is its index; `name` and `args` are those of its function."""
    function = {"name": fields.get("name"), "arguments": fields.get("args", "")}
    call = {"index": fields.get("i"), "id": fields.get("id"), "function": function}
    return {"tool_calls": [{name: value for name, value in call.items() if value is not None}]}


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [
                {"i": 0, "id": "a1", "name": "x"},
                {"i": 0, "id": "a2", "args": '{"n"'},
                {"i": 0, "id": "a3", "args": ": 1}"},
            ],
            [("x", '{"n": 1}')],
            id="a new id in each delta",
        ),
        pytest.param(
            [
                {"i": 0, "id": "a1", "name": "x"},
                {"i": 0, "id": "a2", "name": "x", "args": '{"n"'},
                {"i": 0, "id": "a3", "name": "x", "args": ": 1}"},
                {"i": 0, "id": "a4", "name": "x", "args": '{"n": 2}'},
            ],
            [("x", '{"n": 1}'), ("x", '{"n": 2}')],
            id="a new id and the name in each delta",
        ),
        pytest.param(
            [
                {"id": "a1", "name": "x", "args": '{"n"'},
                {"id": "a2", "args": ": 1}"},
                {"id": "b1", "name": "y"},
                {"id": "b2", "args": '{"n": 2}'},
            ],
            [("x", '{"n": 1}'), ("y", '{"n": 2}')],
            id="a new id in each delta, no index",
        ),
        pytest.param(
            [
                {"i": 0, "id": "a1", "name": "x"},
                {"i": 1, "id": "b1", "name": "x"},
                {"i": 0, "id": "a2", "args": '{"n": 1}'},
                {"i": 1, "id": "b2", "args": '{"n": 2}'},
            ],
            [("x", '{"n": 1}'), ("x", '{"n": 2}')],
            id="a new id in each delta of two interleaved calls",
        ),
        pytest.param(
            [
                {"i": 0, "id": "a", "name": "x"},
                {"i": 0, "id": "b", "name": "y"},
                {"i": 0, "id": "a", "args": '{"n": 1}'},
                {"i": 0, "id": "b", "args": '{"n": 2}'},
            ],
            [("x", '{"n": 1}'), ("y", '{"n": 2}')],
            id="two interleaved calls with one index",
        ),
        pytest.param(
            [
                {"i": 0, "id": "a", "name": "x", "args": '{"t": "b'},
                {"i": 0, "id": "b", "name": "x", "args": '{"t": "c'},
                {"i": 0, "id": "a", "name": "x", "args": '{c"}'},
                {"i": 0, "id": "b", "name": "x", "args": '{d"}'},
            ],
            [("x", '{"t": "b{c"}'), ("x", '{"t": "c{d"}')],
            id="two interleaved calls of one tool with one index",
        ),
        pytest.param(
            [
                {"i": 0, "id": "a", "name": "x"},
                {"i": 0, "id": "a", "args": '{"n": '},
                {"i": 0, "id": "b", "name": "x", "args": '{"n": '},
                {"i": 0, "id": "a", "args": "1}"},
                {"i": 0, "id": "b", "args": "2}"},
            ],
            [("x", '{"n": 1}'), ("x", '{"n": 2}')],
            id="another id after one that came twice",
        ),
        pytest.param(
            [
                {"i": 0, "id": "a1", "name": "x", "args": '{"n": '},
                {"i": 0, "id": "a2", "name": "x", "args": '{"n": "'},
                {"i": 0, "id": "a3", "name": "x", "args": '{"}}'},
            ],
            [("x", '{"n": {"n": "{"}}')],
            id="a new id and the name in each delta of an object in an object",
        ),
        pytest.param(
            [
                {"i": 0, "name": "x", "args": '{"n": 1}'},
                {"i": 0, "name": "x"},
                {"i": 0, "args": '{"n": 2}'},
            ],
            [("x", '{"n": 1}'), ("x", '{"n": 2}')],
            id="the next call of the same name without an id",
        ),
        pytest.param(
            [{"i": 0, "id": "a", "name": "x", "args": '{"n": 1}'}, {"i": 0, "id": "a", "name": "x"}],
            [("x", '{"n": 1}')],
            id="the name again at the end",
        ),
        pytest.param(
            [
                {"i": 0, "id": "a", "name": "x", "args": '{"n": 1}'},
                {"i": 0, "id": "a", "name": "x", "args": '{"n": 2}'},
            ],
            [("x", '{"n": 1}'), ("x", '{"n": 2}')],
            id="one id for two calls",
        ),
        pytest.param(
            [{"i": 0, "id": "a", "name": "x"}, {"i": 0, "id": "b", "name": "x"}],
            [("x", ""), ("x", "")],
            id="two calls without arguments",
        ),
    ],
)
def test_RUN12_a_delta_without_a_name_continues_the_call_of_its_index(
    deltas: list[dict[str, Any]], calls: list[tuple[str, str]]
) -> None:
    chunks, stream = read(frames(*(call_delta(**delta) for delta in deltas), finish="tool_calls"))
    assert [(call.name, call.arguments) for call in stream.assembly.build_calls()] == calls
    # What clients show while it streams is the same.
    streamed = [""] * len(calls)
    for chunk in chunks:
        streamed[chunk.index] += chunk.text
    assert streamed == [arguments for _, arguments in calls]


def test_thinking_in_many_parts_is_kept_and_too_much_of_it_is_left_out_whole() -> None:
    def read_details(texts: list[str]) -> tuple[bool, dict[str, Any]]:
        details = ({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": text}]} for text in texts)
        _, stream = read(frames(*details, call_delta(i=0, id="a", name="x"), finish="tool_calls"))
        fields = stream.build_provider_fields("origin")
        assert fields is not None
        assert fields.calls == [{"id": "a"}]
        stream.assembly.release()
        return stream.assembly.is_too_long, fields.message

    is_too_long, message = read_details(["word"] * 20_000)
    assert (is_too_long, len(message["reasoning_details"][0]["text"])) == (False, 80_000)
    assert read_details(["word" * 10_000] * 6) == (False, {})


def test_a_finish_reason_that_is_no_text_ends_an_answer() -> None:
    assert normalize_finish(cast("str", 1), has_calls=False) == "stop"


@pytest.mark.parametrize("body", [[b"x" * 100_000] * 3, [b"data: " + b"x" * 270_000], [b"{" + b"x" * 1_000_000] * 5])
def test_an_endless_line_and_an_endless_document_are_refused(body: list[bytes]) -> None:
    with pytest.raises(LLMError) as raised:
        read(*body)
    assert raised.value.code == "garbled"


# --- the request --------------------------------------------------------------------------------------------------


def test_call_ids_and_malformed_arguments_are_sent_in_a_form_that_every_provider_accepts() -> None:
    calls = (
        ToolCall("0192-run:1:0", "no such tool!", '{"timezone": "Asia/To', provider_id="same"),
        ToolCall("0192-run:1:1", "x", "", provider_id="same"),
        ToolCall("0192-run:1:2", "x", "[1]", provider_id="same"),
    )
    turns = [Turn("assistant", "", calls=calls), *(Turn("tool", "no", call_id=call.id) for call in calls)]
    sent = build_messages(ModelRequest("m", turns))
    assert [call["id"] for call in sent[0]["tool_calls"]] == ["call00000", "call00001", "call00002"]
    assert [message["tool_call_id"] for message in sent[1:]] == ["call00000", "call00001", "call00002"]
    functions = [call["function"] for call in sent[0]["tool_calls"]]
    assert functions[0] == {"name": "no_such_tool_", "arguments": '{"unreadable": "{\\"timezone\\": \\"Asia/To"}'}
    assert [function["arguments"] for function in functions[1:]] == ["{}", '{"unreadable": "[1]"}']


def test_a_model_gets_back_what_it_attached_and_no_other_model_does() -> None:
    _, stream = read(
        frames(
            {"reasoning_content": "I need "},
            {"reasoning_content": "the time."},
            {
                "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "I need "}],
                "tool_calls": [{"index": 0, "id": "p1", "extra_content": {"google": {"thought_signature": "c2ln"}}}],
            },
            {"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "it.", "signature": "c2lnMg=="}]},
            {"reasoning_details": [{"type": "reasoning.encrypted", "index": 0, "data": "x"}] * 2},
            call_delta(i=0, name="x", args="{}"),
            call_delta(i=1, id="p1", name="x", args="{}"),
            finish="tool_calls",
        )
    )
    fields = stream.build_provider_fields("here")
    calls = tuple(replace(call, id=f"own{call.index}") for call in stream.assembly.build_calls())
    before = (ToolCall("own9", "x", "{}"),)
    turns = [
        Turn("assistant", "", calls=before),
        Turn("tool", "Done.", call_id="own9"),
        Turn("assistant", "", calls=calls, provider_fields=fields),
        Turn("tool", "Noon.", call_id="own0"),
    ]
    function = {"name": "x", "arguments": "{}"}
    details = [
        {"type": "reasoning.text", "index": 0, "text": "I need it.", "signature": "c2lnMg=="},
        *[{"type": "reasoning.encrypted", "index": 0, "data": "x"}] * 2,
    ]
    extra = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    sent = build_messages(ModelRequest("m", turns), "here")
    assert sent[2] == {
        "role": "assistant",
        "content": None,
        "reasoning_details": details,
        "tool_calls": [
            {"id": "p1", "type": "function", "function": function, **extra},
            {"id": "call00002", "type": "function", "function": function},
        ],
    }
    assert sent[3] == {"role": "tool", "tool_call_id": "p1", "content": "Noon."}
    sent = build_messages(ModelRequest("m", turns), "there")
    assert sent[2] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"call0000{n}", "type": "function", "function": function} for n in (1, 2)],
    }


def test_a_model_that_has_sent_its_thinking_gets_the_field_in_each_message_with_calls() -> None:
    turns = [
        Turn("assistant", "", calls=(ToolCall("a", "x", "{}"),)),
        Turn(
            "assistant",
            "",
            (ToolCall("b", "x", "{}"),),
            provider_fields=ProviderFields("m", {"reasoning_content": "Hm."}),
        ),
        Turn("assistant", "An answer."),
    ]
    sent = build_messages(ModelRequest("m", turns), "m")
    assert [message.get("reasoning_content") for message in sent] == ["", "Hm.", None]
    assert all("reasoning_content" not in message for message in build_messages(ModelRequest("m", turns), "other"))


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_RUN20_the_wait_is_parsed_in_all_its_formats(headers: dict[str, str], seconds: float | None) -> None:
    assert parse_retry_after(headers) == seconds


def test_SEC17_the_text_of_an_error_has_no_key_and_is_short() -> None:
    text = f"Incorrect key {KEY.reveal()} or sk-proj-abcdefghijkl\nAuthorization: Bearer abcdefghijkl " + "x" * 600
    shown = redact(text, KEY)
    assert shown.startswith("Incorrect key *** or *** Authorization: Bearer *** xxx")
    assert len(shown) == 500
    assert redact(f"Incorrect key {KEY.reveal()[:9]}\x00{KEY.reveal()[9:]}", KEY) == "Incorrect key ***"


# --- over HTTP ------------------------------------------------------------------------------------------------


async def test_a_connection_is_reused_after_an_answer_and_not_after_an_error(scripted: ScriptedModel) -> None:
    ports = []
    scripted.script(text="fine")
    for mode in ("plain", "plain", "stall", "plain"):
        scripted.script(mode=mode, times=1)
        try:
            await answer_of(build_adapter(scripted, Timeouts(idle=0.5)))
        except LLMError:
            assert mode == "stall"
        ports.append(scripted.requests[-1].port)
    assert ports[0] == ports[1] == ports[2] != ports[3]


async def test_a_server_that_never_closes_the_stream_does_not_delay_the_answer(
    scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai, "SECONDS_AFTER_FINISH", 0.1)
    scripted.script(mode="nodone", text="All done.")
    answer = await answer_of(build_adapter(scripted))
    assert (answer.text, answer.finish) == ("All done.", "stop")
    assert answer.usage.estimated


@pytest.mark.parametrize(
    ("sent", "text", "finish"),
    [
        pytest.param(events(*"abcdefgh", wait=0.2), "abcdefgh", "stop", id="a reason in each event"),
        pytest.param(
            [*events(*"abcdefgh", wait=0.2), {"raw": ": no end\n\n", "wait": 30}], "abcdefgh", "stop", id="and no end"
        ),
        pytest.param(
            [{"delta": {"reasoning_content": "hmm"}, "finish": "stop", "wait": 1.2}, *events("text")],
            "text",
            "stop",
            id="a reason after the thinking",
        ),
        pytest.param(
            [{"delta": {"content": ""}, "finish": "stop", "wait": 1.2}, *events("text")],
            "text",
            "stop",
            id="a reason first",
        ),
        pytest.param(events("complete answer", finish=None), "complete answer", "stop", id="no reason"),
        pytest.param(
            [{"delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "x", "arguments": "{}"}}]}}],
            "",
            "tool_calls",
            id="calls and no reason",
        ),
        pytest.param(events("too long", finish="model_length"), "too long", "length", id="another word for length"),
    ],
)
async def test_an_answer_ends_with_its_stream_whatever_its_finish_reasons_are(
    scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch, sent: list[dict[str, Any]], text: str, finish: str
) -> None:
    monkeypatch.setattr(openai, "SECONDS_AFTER_FINISH", 0.8)
    scripted.script(mode="events", events=sent)
    answer = await answer_of(build_adapter(scripted))
    assert (answer.text, answer.finish) == (text, finish)


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(events("half an answ", finish=reason), id=reason)
        for reason in ("error", "abort", "ABORTED", "cancelled", "insufficient_system_resource", "network_error")
    ]
    + [
        pytest.param([*events("half ", "an answ"), {"raw": 'data: {"choices": [{"delta": {"con'}], id="a half line"),
        pytest.param([*events("half ", "an answ", wait=0.05), {"abort": True}], id="a broken connection"),
        pytest.param([*events("half an answ", finish=None), {"raw": ": the end\n\n"}], id="no end"),
    ],
)
async def test_RUN11_an_answer_that_its_server_broke_off_is_an_error(
    scripted: ScriptedModel, sent: list[dict[str, Any]]
) -> None:
    scripted.script(mode="events", events=sent)
    error = await failure_of(build_adapter(scripted))
    assert (error.code, error.partial_text, error.retryable) == ("cut", "half an answ", True)


async def test_RUN10_an_endless_answer_with_a_reason_in_each_event_ends_at_the_time_limit(
    scripted: ScriptedModel,
) -> None:
    scripted.script(mode="events", events=events(*"x" * 200, wait=0.05))
    error = await failure_of(build_adapter(scripted, Timeouts(first=60, idle=60, total=2)))
    assert (error.code, set(error.partial_text)) == ("timeout_total", {"x"})


async def test_RUN12_interleaved_calls_of_one_tool_with_one_index_are_told_apart_by_their_ids(
    scripted: ScriptedModel,
) -> None:
    deltas = [
        call_delta(i=0, id=id, name="x", args=args)
        for id, args in (("a", '{"n"'), ("b", '{"n"'), ("a", ": 1"), ("b", ": 2"), ("b", "}"), ("a", "}"))
    ]
    scripted.script(mode="events", events=[{"delta": delta} for delta in deltas])
    answer = await answer_of(build_adapter(scripted))
    assert [(call.provider_id, call.arguments) for call in answer.calls] == [("a", '{"n": 1}'), ("b", '{"n": 2}')]


async def test_a_server_that_requires_thinking_with_earlier_calls_gets_it(
    scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The conversation began with another model, which sent no thinking."""
    monkeypatch.setattr(openai, "_requiring_thinking", BoundedMap(2))
    calls = (ToolCall("own", "x", "{}"),)
    turns = [*ASK.turns, Turn("assistant", "", calls=calls), Turn("tool", "Noon.", call_id="own")]
    scripted.script(text="It is noon.", requires="reasoning_content")
    answer = await answer_of(build_adapter(scripted), ModelRequest("thinks", turns))
    assert (answer.text, answer.provider_fields) == ("It is noon.", None)
    assert [sent.body["messages"][2].get("reasoning_content") for sent in scripted.requests] == [None, ""]
    await answer_of(build_adapter(scripted), ModelRequest("thinks", turns))
    assert len(scripted.requests) == 3
    # Of more models than are kept, the first is learnt again.
    for model in ("two", "three", "thinks"):
        await answer_of(build_adapter(scripted), ModelRequest(model, turns))
    assert len(scripted.requests) == 9


async def test_the_answer_of_a_server_that_does_not_stream_is_parsed(scripted: ScriptedModel) -> None:
    scripted.script(text="In one chunk.", streams=False)
    answer = await answer_of(build_adapter(scripted))
    assert (answer.text, answer.finish, answer.usage.output_tokens) == ("In one chunk.", "stop", 3)
    scripted.script(calls=[{"name": "x", "arguments": "{}"}], streams=False)
    answer = await answer_of(build_adapter(scripted))
    assert (answer.calls, answer.finish) == ((ToolCall("", "x", "{}", 0, "call_0"),), "tool_calls")


async def test_a_server_that_refuses_stream_options_does_not_get_them_again(
    scripted: ScriptedModel,
) -> None:
    scripted.script(text="Fine.")
    scripted.script(mode="status", status=400, error="Unknown field: stream_options", times=1)
    assert (await answer_of(build_adapter(scripted))).text == "Fine."
    assert (await answer_of(build_adapter(scripted))).usage.estimated
    assert ["stream_options" in request.body for request in scripted.requests] == [True, False, False]


@pytest.mark.parametrize("field", ["stream_options", "reasoning_content"])
@pytest.mark.parametrize("tool", ["", "pick"])
async def test_what_an_error_only_seems_to_refuse_is_not_remembered_for_others(
    scripted: ScriptedModel, field: str, tool: str
) -> None:
    schema = {"type": "object", "properties": {field: {"type": "array"}}}
    text = f"Invalid schema for function {tool}: In context=('properties', '{field}'), array schema missing items"
    scripted.script(text="Fine.", calls=[])
    scripted.script(mode="status", status=400, error=text, times=1 if tool else 2)
    own = replace(ASK, tools=[ToolSchema("pick", "Pick one.", schema)])
    if tool:
        assert (await answer_of(build_adapter(scripted), own)).left_out_tools.keys() == {"pick"}
    else:
        assert (await failure_of(build_adapter(scripted), own)).code == "bad_request"
    turns = [*ASK.turns, Turn("assistant", "", calls=(ToolCall("own", "x", "{}"),)), Turn("tool", "1", call_id="own")]
    await answer_of(build_adapter(scripted), replace(ASK, turns=turns))
    body = scripted.requests[-1].body
    assert ("stream_options" in body, "reasoning_content" in body["messages"][2]) == (True, False)


async def test_SEC12_a_tenants_private_host_is_refused_without_a_connection(scripted: ScriptedModel, settings) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset()
    for base in (scripted.api_base, "http://127.0.0.1/v1", "http://[::ffff:7f00:1]/v1", "http://localhost./v1", ""):
        assert (await failure_of(build_adapter(scripted, api_base=base))).code == "host_refused"
    assert scripted.requests == []


async def test_the_endpoint_of_the_operator_may_have_any_host(scripted: ScriptedModel, settings) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset()
    assert (await answer_of(build_adapter(scripted, paid_by="system"))).text


async def test_SEC13_a_redirect_is_not_followed(scripted: ScriptedModel) -> None:
    scripted.script(mode="redirect", text=f"{scripted.api_base}/models")
    error = await failure_of(build_adapter(scripted))
    assert (error.code, error.retryable) == ("host_refused", False)
    assert len(scripted.requests) == 1


async def test_SEC13_a_host_whose_addresses_change_is_connected_at_the_checked_address_only(
    settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset()
    names, connects = FakeDns(monkeypatch), ConnectionRecorder(monkeypatch)
    codes = []
    for answer in (["8.8.8.8"], ["127.0.0.1"], ["8.8.8.8", "::1"]):
        names.answers = [answer, ["127.0.0.1"]]
        llm = OpenAIAdapter(
            Endpoint("openai_compatible", "http://flip.example.com/v1", KEY, "workspace"), Timeouts(3, 3, 9)
        )
        codes.append((await failure_of(llm)).code)
        await close_sessions()  # removes the resolved addresses
    assert codes == ["unreachable", "host_refused", "host_refused"]
    assert {seen[0] for seen in connects.seen} == {"8.8.8.8"}


async def test_a_server_that_does_not_exist_is_unreachable(scripted: ScriptedModel, settings) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset({"127.0.0.1:9"})
    error = await failure_of(build_adapter(scripted, api_base="http://127.0.0.1:9/v1"))
    assert (error.code, error.retryable) == ("unreachable", True)


async def test_without_a_key_no_header_is_sent(scripted: ScriptedModel) -> None:
    await answer_of(build_adapter(scripted, key=Secret("")))
    assert "Authorization" not in scripted.requests[0].headers


async def test_parameters_cannot_replace_our_fields(scripted: ScriptedModel) -> None:
    parameters: dict[str, Any] = {"temperature": 0.1, "top_p": None, "model": "other", "stream": False, "messages": []}
    await answer_of(build_adapter(scripted), ModelRequest("scripted", ASK.turns, parameters=parameters))
    body = scripted.requests[0].body
    assert (body["model"], body["stream"], body["temperature"], "top_p" in body) == ("scripted", True, 0.1, False)
    assert len(body["messages"]) == 2


async def test_a_model_test_returns_whether_an_endpoint_works(scripted: ScriptedModel) -> None:
    endpoint = Endpoint("openai_compatible", scripted.api_base, KEY, "workspace")
    assert (await llm_client.test_model(endpoint, "scripted")).ok
    scripted.script(mode="status", status=401, error="Bad key", echo_key=True)
    result = await llm_client.test_model(endpoint, "scripted")
    assert (result.ok, result.message) == (False, "The model's server answered 401: Bad key Bearer ***")


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ({"tokens": [""], "finish": "stop"}, "empty_answer"),
        ({"tokens": [" ", "\n"]}, "empty_answer"),
        ({"mode": "stall", "after": 1}, "timeout_idle"),
        ({"mode": "cut", "after": 1}, "cut"),
        ({"mode": "cleancut", "after": 2}, "cut"),
        ({"mode": "nofirst"}, "timeout_first"),
    ],
)
async def test_a_model_that_is_silent_or_stalls_after_a_chunk_fails_its_test(
    scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch, script: dict[str, Any], code: str
) -> None:
    monkeypatch.setattr(llm_client, "MAX_TEST_IDLE_SECONDS", 0.3)
    scripted.script(**script)
    result = await llm_client.test_model(
        Endpoint("openai_compatible", scripted.api_base, KEY, "workspace"), "scripted", seconds=1.0
    )
    assert (result.ok, result.code) == (False, code)
    assert result.message


async def test_a_model_test_ends_after_enough_chunks(scripted: ScriptedModel) -> None:
    scripted.script(mode="drip", count=100_000, every=0.001)
    result = await llm_client.test_model(Endpoint("openai_compatible", scripted.api_base, KEY, "workspace"), "scripted")
    assert result.ok
    assert len(scripted.requests) == 1


async def test_the_models_of_a_server_are_listed_with_its_key(scripted: ScriptedModel) -> None:
    assert await list_models(Endpoint("openai_compatible", scripted.api_base, KEY, "workspace")) == {"scripted": None}


async def test_a_server_that_lists_no_models_is_an_error(scripted: ScriptedModel, settings) -> None:
    settings.ALLOW_PRIVATE_HOSTS |= {f"{scripted.host}/requests"}
    with pytest.raises(LLMError) as error:
        await list_models(Endpoint("openai_compatible", f"{scripted.url}/requests", KEY, "workspace"))
    assert error.value.code == "not_found"


@pytest.mark.parametrize("base", ["/v1/chat", "/api", "", "/v1?x=", "/v1#x", "/v1/..", "/v1/%2e%2e/api"])
async def test_a_private_host_gets_requests_below_its_base_path_only(scripted: ScriptedModel, base: str) -> None:
    endpoint = Endpoint("openai_compatible", scripted.url + base, KEY, "workspace")
    for asked in (failure_of(OpenAIAdapter(endpoint, Timeouts(1, 1, 1))), _listing_of(endpoint)):
        assert (await asked).code == "host_refused"
    assert scripted.requests == []


async def _listing_of(endpoint: Endpoint) -> LLMError:
    with pytest.raises(LLMError) as error:
        await list_models(endpoint)
    return error.value


def test_a_conversation_that_is_too_long_is_recognised_in_a_frame_and_in_a_status_error() -> None:
    error = {"code": 400, "message": "This model's maximum context length is 8192 tokens."}
    refused = build_status_error(400, {}, json.dumps({"error": error}).encode(), KEY)
    broken_off = build_stream_error(error, KEY)
    assert [(raised.code, raised.retryable) for raised in (refused, broken_off)] == [("context_too_long", False)] * 2


@pytest.mark.parametrize(
    "error",
    [
        {"code": "context_length_exceeded", "message": "Please reduce the length of the messages."},
        {
            "message": "Trying to keep the first 4173 tokens, but the model is loaded with context length of only 4096 tokens"
        },
    ],
    ids=["a code in words", "no code"],
)
def test_a_frame_without_a_status_may_say_that_a_conversation_is_too_long(error: dict[str, str]) -> None:
    raised = build_stream_error(error, KEY)
    assert (raised.code, raised.retryable) == ("context_too_long", False)


# By what each provider or server says that a conversation is too long for its model.
TOO_LONG = {
    "OpenAI": (400, "Your input exceeds the context window of this model. Please adjust your input and try again."),
    "Azure OpenAI": (
        400,
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 167630.",
    ),
    "Anthropic": (400, "prompt is too long: 208310 tokens > 200000 maximum"),
    "Anthropic with an answer": (
        400,
        "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease",
    ),
    "Anthropic by bytes": (413, "Request exceeds the maximum size"),
    "Gemini": (400, "The input token count (1196265) exceeds the maximum number of tokens allowed (1048576)."),
    "DeepSeek": (400, "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens."),
    "Mistral": (
        400,
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    ),
    "Groq": (400, "Please reduce the length of the messages or completion."),
    "Groq by a rate": (
        413,
        "Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 12000",
    ),
    "xAI": (400, "This model's maximum prompt length is 131072 but the request contains 136973 tokens."),
    "OpenRouter": (
        400,
        "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens",
    ),
    "Bedrock": (400, "Input is too long for requested model."),
    "Bedrock by tokens": (400, "prompt tokens (40000) exceed model maximum (32768)"),
    "Ollama": (400, "prompt too long; exceeded max context length by 12 tokens"),
    "LM Studio": (400, "The number of tokens to keep from the initial prompt is greater than the context length"),
    "llama.cpp": (400, "the request exceeds the available context size, try increasing it"),
    "vLLM": (400, "The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
    "SGLang": (400, "The input (300 tokens) is longer than the model's context length (200 tokens)."),
    "TGI": (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 and 100"),
    "Moonshot": (400, "Invalid request: Your request exceeded model token limit: 131072 (requested: 150000)"),
    "Qwen": (400, "Range of input length should be [1, 129024]"),
    "Zhipu": (400, "Prompt 超长"),
    "MiniMax": (400, "invalid params, context window exceeds limit (2013)"),
    "a proxy": (413, "<html><title>413 Request Entity Too Large</title></html>"),
}


@pytest.mark.parametrize("provider", TOO_LONG)
def test_each_provider_says_in_its_own_words_that_a_conversation_is_too_long(provider: str) -> None:
    status, text = TOO_LONG[provider]
    bodies = [
        json.dumps({"error": {"message": text}}),
        json.dumps({"error": text}),
        json.dumps({"message": text}),
        text,
    ]
    errors = [build_status_error(status, {}, body.encode(), KEY) for body in bodies]
    assert [(error.code, error.retryable) for error in errors] == [("context_too_long", False)] * 4


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens is too large: 5000. This model supports at most 4096 completion tokens",
        "Invalid 'user': string too long. Expected a string with maximum length 64",
        "Invalid value for 'temperature': exceeds the limit of 2",
        "The tool's name is too long: at most 64 characters",
    ],
)
def test_another_value_that_is_too_large_is_no_long_conversation(text: str) -> None:
    assert build_status_error(400, {}, json.dumps({"error": {"message": text}}).encode(), KEY).code == "bad_request"
