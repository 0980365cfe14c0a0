"""Requests are stored as they were sent: small, without secrets, and complete when they are read back."""

import json
from dataclasses import replace
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.logs import MASK
from llm.messages import Image, ModelRequest, ProviderFields, ToolCall, ToolSchema, Turn
from llm.sent_requests import (
    MAX_STORED_CHARACTERS,
    RequestKey,
    RequestRecorder,
    Section,
    decode_requests,
    encode_request,
)

SYSTEM = Turn("system", "Be kind.\n\nYou are Robin.\n\nNotes: it rains.")
TOOL = ToolSchema("current_time", "Tell the time.", {"type": "object"})
FIRST = ModelRequest("gpt", [SYSTEM, Turn("user", "What time is it?")], [TOOL], {"temperature": 0.3})
CALL = ToolCall("call_1", "current_time", "{}")
SECOND = replace(
    FIRST, turns=[*FIRST.turns, Turn("assistant", calls=(CALL,)), Turn("tool", "It is noon.", call_id="call_1")]
)


def store_all(
    requests: list[ModelRequest], sections: tuple[Section, ...] = (), secret: str = ""
) -> dict[RequestKey, bytes]:
    recorder, stored = RequestRecorder(sections, secret), {}
    for number, request in enumerate(requests, 1):
        recorder.current, key = request, RequestKey(number, 1)
        content = recorder.encode_current(key)
        assert content is not None
        stored[key] = content
        recorder.mark_stored(key)
    return stored


def list_texts(request: ModelRequest) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in request.turns]


def test_a_request_is_read_back_as_it_was_sent():
    found = decode_requests(store_all([FIRST, SECOND]))[RequestKey(2, 1)]
    assert found is not None
    assert (found.model, found.parameters) == ("gpt", {"temperature": 0.3})
    assert found.tools == [{"name": "current_time", "description": "Tell the time.", "parameters": {"type": "object"}}]
    assert found.turns[2:] == [
        {"role": "assistant", "text": "", "calls": [{"id": "call_1", "name": "current_time", "arguments": "{}"}]},
        {"role": "tool", "text": "It is noon.", "call_id": "call_1"},
    ]
    assert found.turns[:2] == [{"role": "system", "text": SYSTEM.text}, {"role": "user", "text": "What time is it?"}]


def test_a_later_request_is_stored_without_what_it_repeats():
    long = replace(FIRST, turns=[SYSTEM, Turn("user", " ".join(str(uuid4()) for _ in range(500)))])
    stored = store_all([long, replace(long, turns=[*long.turns, Turn("assistant", "Yes.")])])
    first, second = stored.values()
    assert len(second) < 200 < len(first)


TURNS = st.lists(st.sampled_from([Turn("user", f"text {number}") for number in range(4)]), max_size=6)


@given(st.lists(st.tuples(TURNS, st.booleans()), min_size=1, max_size=6))
def test_any_series_of_requests_is_read_back(made: list[tuple[list[Turn], bool]]):
    requests = [replace(FIRST, turns=[SYSTEM, *turns], tools=[TOOL] if has_tool else []) for turns, has_tool in made]
    found = decode_requests(store_all(requests))
    for request, read in zip(requests, found.values(), strict=True):
        assert read is not None
        assert [(turn["role"], turn["text"]) for turn in read.turns] == list_texts(request)
        assert len(read.tools) == len(request.tools)


def test_a_request_whose_base_was_removed_is_not_read():
    stored = store_all([FIRST, SECOND])
    del stored[RequestKey(1, 1)]
    assert decode_requests(stored) == {RequestKey(2, 1): None}


def test_sections_name_the_parts_of_the_system_text_also_after_a_secret():
    chat = uuid4()
    system = "Use sk-abcdefgh12345678 here.\n\nYou are Robin.\n\nNotes: it rains."
    sections = (Section("prompt", "Use sk-abcdefgh12345678 here."), Section("memory", "Notes: it rains.", (chat,)))
    request = replace(FIRST, turns=[Turn("system", system)])
    found = decode_requests(store_all([request], sections))[RequestKey(1, 1)]
    assert found is not None
    text = found.turns[0]["text"]
    assert [(part.kind, text[part.start : part.end], part.chat_ids) for part in found.sections] == [
        ("prompt", f"Use {MASK} here.", ()),
        ("memory", "Notes: it rains.", (chat,)),
    ]


def test_secrets_are_not_stored():
    call = ToolCall("call_1", "http", '{"headers": {"Authorization": "Bearer abcdefgh12345678"}}')
    schema = {"properties": {"q": {"default": 7, "enum": ["secret: hunter33secret"]}}, "required": ["q"]}
    tool = ToolSchema("http", "Send password=hunter22secret with it.", schema)
    turns = [Turn("system", "The key is key-of-the-endpoint."), Turn("assistant", calls=(call,))]
    found = decode_requests(store_all([ModelRequest("gpt", turns, [tool])], secret="key-of-the-endpoint"))[
        RequestKey(1, 1)
    ]
    assert found is not None
    everything = str(found)
    assert MASK in everything
    for secret in ("key-of-the-endpoint", "abcdefgh12345678", "hunter22secret", "hunter33secret"):
        assert secret not in everything
    assert found.tools[0]["parameters"] == {
        "properties": {"q": {"default": 7, "enum": [f"secret: {MASK}"]}},
        "required": ["q"],
    }


def test_what_a_model_attached_and_gets_back_is_stored_bounded_and_without_secrets():
    message = {
        "reasoning_content": 'I say Bearer\tabcdefgh12345678, key"of the-endpoint and api_key. ' + "long " * 10_000,
        "api_key": "hunter22secret",
    }
    calls = [{"id": "call_1", "extra_content": {"google": {"thought_signature": "c2ln"}}}]
    turn = Turn("assistant", calls=(CALL,), provider_fields=ProviderFields("here", message, calls))
    of_another = replace(turn, provider_fields=ProviderFields("there", {"reasoning_content": "Hm."}))
    only_ids = replace(turn, provider_fields=ProviderFields("here", {}, [{"id": "call_1"}]))
    request = replace(FIRST, turns=[SYSTEM, turn, of_another, only_ids])
    stored = encode_request(request, secret='key"of the-endpoint', origin="here")
    found = decode_requests({RequestKey(1, 1): stored})[RequestKey(1, 1)]
    assert found is not None
    text = found.turns[1]["provider_fields"]
    assert text.startswith(f'{{"reasoning_content":"I say Bearer\\t{MASK}, {MASK} and api_key. long')
    assert text.endswith(
        f'"api_key":"{MASK}","tool_calls":[{{"extra_content":{{"google":{{"thought_signature":"c2ln"}}}}}}]}}'
    )
    assert len(text) < 20_100
    assert all("provider_fields" not in turn for turn in found.turns[2:])


def test_of_an_image_only_type_and_size_are_stored():
    turn = Turn("user", "Look.", images=(Image("image/png", b"12345"),))
    found = decode_requests(store_all([replace(FIRST, turns=[SYSTEM, turn])]))[RequestKey(1, 1)]
    assert found is not None
    assert found.turns[1]["images"] == [{"content_type": "image/png", "bytes": 5}]


def test_a_request_that_is_too_long_is_stored_without_the_middle_of_its_long_texts():
    long = replace(FIRST, turns=[SYSTEM, Turn("user", "a" * MAX_STORED_CHARACTERS + "end")])
    found = decode_requests({RequestKey(1, 1): encode_request(long)})[RequestKey(1, 1)]
    assert found is not None
    assert found.is_shortened
    assert found.turns[1]["text"].endswith("aend")
    assert "1,980,003 characters are not stored" in found.turns[1]["text"]


@pytest.mark.parametrize("secret", ['key"of\\the-endpoint', "key-of-the-endpoint"])
@pytest.mark.parametrize("text", ["Bearer\tabcdefgh12345678", "Authorization: bearer\nabcdefgh12345678"])
def test_secrets_are_not_stored_however_they_are_written(secret, text):
    call = ToolCall("call_1", "http", json.dumps({"said": secret}))
    alone = str(decode_requests(store_all([ModelRequest("gpt", [Turn("user", text)], [])])))
    assert "abcdefgh12345678" not in alone
    turns = [Turn("user", secret), Turn("assistant", calls=(call,))]
    found = decode_requests(store_all([ModelRequest("gpt", turns, [])], secret=secret))[RequestKey(1, 1)]
    assert found is not None
    assert MASK == found.turns[0]["text"]
    assert json.loads(found.turns[1]["calls"][0]["arguments"]) == {"said": MASK}
