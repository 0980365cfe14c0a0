"""A server says with any status from 400 to 599 that a conversation is too long. Its words count."""

import json
from typing import Any

import pytest

from tests.llm.adapter import build_adapter, failure_of, scripted
from tests.scripted_model import ScriptedModel

__all__ = ["scripted"]

PROXY = "litellm.ContextWindowExceededError: This model's maximum context length is 8192 tokens"


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        pytest.param(
            400,
            {
                "code": 20015,
                "message": "length of prompt_tokens (57535) must be less than max_seq_len (32768).",
                "data": None,
            },
            "context_too_long",
            id="SiliconFlow",
        ),
        pytest.param(500, {"error": {"message": PROXY}}, "context_too_long", id="a proxy with 500"),
        pytest.param(502, {"detail": PROXY}, "context_too_long", id="a proxy with 502"),
        pytest.param(
            500,
            {"error": {"type": "exceed_context_size_error", "message": "It does not fit.", "n_ctx": 2048}},
            "context_too_long",
            id="the kind of llama.cpp",
        ),
        pytest.param(403, {"msg": "input_tokens 9000 exceed 8192"}, "context_too_long", id="with 403"),
        pytest.param(
            429,
            {"error": {"message": "Too many tokens in the prompt: maximum context 8192"}},
            "context_too_long",
            id="429",
        ),
        pytest.param(
            429,
            {"error": {"message": "Rate limit reached: too many tokens per minute"}},
            "rate_limited",
            id="a rate of tokens",
        ),
        pytest.param(500, {"error": {"message": "The length of the queue is 7."}}, "server", id="another length"),
        pytest.param(400, {"message": "max_tokens must be less than 4096"}, "bad_request", id="a long answer"),
    ],
)
async def test_the_words_count_at_every_status(
    scripted: ScriptedModel, status: int, error: dict[str, Any], code: str
) -> None:
    scripted.script(mode="status", status=status, body=json.dumps(error))
    failed = await failure_of(build_adapter(scripted))
    assert (failed.code, failed.retryable) == (code, code in ("server", "rate_limited"))


@pytest.mark.parametrize("code", [500, "500", 400, 20015, "context_length_exceeded", None])
async def test_the_words_count_in_an_error_inside_a_stream(scripted: ScriptedModel, code: int | str | None) -> None:
    event = {"raw": f"data: {json.dumps({'error': {'message': PROXY, 'code': code}})}\n\n"}
    scripted.script(mode="events", events=[event])
    failed = await failure_of(build_adapter(scripted))
    assert (failed.code, failed.retryable) == ("context_too_long", False)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_a_conversation_that_a_proxy_refuses_with_500_is_shortened_and_sent_again(environment):
    environment.model.script(text="Here I am.")
    environment.model.script(mode="status", status=500, error=PROXY, times=2)
    for number in range(6):
        environment.post(f"{number} " + "word " * 500, by=environment.team.bob, wake="nobody")
    environment.post("hello")
    assert environment.wait_until_idle()[0].state == "completed"
    sizes = [len(str(request.body["messages"])) for request in environment.model.requests]
    assert len(sizes) == 3
    assert sizes[0] > sizes[1] > sizes[2]
