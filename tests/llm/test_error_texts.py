"""What a server says about its failure reaches the person: from any common shape, as a text without markup."""

import json
from typing import Any

import pytest

from llm.errors import WEB_PAGE
from llm.model_list import list_models
from llm.protocol import Endpoint, LLMError
from tests.llm.adapter import KEY, answer_of, build_adapter, events, failure_of, scripted
from tests.scripted_model import ScriptedModel

__all__ = ["scripted"]

PAGE = "<!DOCTYPE html><html><head><title>Gateway</title><style>b {}</style></head><body><h1>Welcome</h1></body></html>"
FIRST_PROXY_PAGE = (
    "<html><head><title>502 Bad Gateway</title></head><body><center>502 Bad Gateway</center></body></html>"
)


def sent(error: Any) -> list[dict[str, Any]]:
    """Return an event with this JSON, as the last one before `[DONE]`."""
    return [{"raw": f"data: {json.dumps(error, ensure_ascii=False)}\n\n"}, {"delta": {}}]


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        pytest.param(
            {"object": "error", "message": "The model is overloaded, try again.", "code": 50001},
            "server",
            "The model is overloaded, try again.",
            id="an object of the kind error",
        ),
        pytest.param({"message": "Engine is dead."}, "server", "Engine is dead.", id="only a message"),
        pytest.param(
            {"code": 429, "msg": "Slow down."}, "rate_limited", "Slow down.", id="msg with a status as its code"
        ),
        pytest.param({"detail": "Invalid API key"}, "refused", "Invalid API key", id="detail"),
        pytest.param(
            {"detail": [{"loc": ["body", "top_p"], "msg": "Input should be less than 1"}, {"msg": "x is required"}]},
            "bad_request",
            "Input should be less than 1 x is required",
            id="a list of details",
        ),
        pytest.param(
            {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": "top_k is too large"}}},
            "bad_request",
            "Provider returned error top_k is too large",
            id="a provider that a proxy quotes",
        ),
        pytest.param({"error": "boom", "status": 503}, "server", "boom", id="a text as the error"),
        pytest.param({"error": {"error": {"message": "inner"}}}, "server", "inner", id="an error in an error"),
        pytest.param(
            {"error": {"message": f"upstream: {FIRST_PROXY_PAGE}"}},
            "server",
            "upstream: 502 Bad Gateway",
            id="a page in the message",
        ),
        pytest.param({"object": "error", "message": None}, "server", '{"object": "error"', id="no message"),
    ],
)
@pytest.mark.parametrize("streams", [True, False])
async def test_an_error_with_status_200_says_why(
    scripted: ScriptedModel, error: dict[str, Any], code: str, text: str, streams: bool
) -> None:
    if streams:
        scripted.script(mode="events", events=sent(error))
    else:
        scripted.script(mode="status", status=200, body=json.dumps(error))
    failed = await failure_of(build_adapter(scripted))
    assert (failed.code, failed.retryable) == (code, code in ("server", "rate_limited"))
    assert failed.message.startswith(f"The model's server broke off: {text}")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ({"code": 20012, "message": "Model does not exist. Please check it.", "data": None}, "not_found"),
        ({"code": "1211", "message": "模型不存在，请检查模型代码。"}, "not_found"),
        ({"code": 1302, "msg": "您的账户已达到速率限制：限流"}, "rate_limited"),
        ({"code": 30001, "message": "Sorry, your account balance is insufficient: insufficient balance"}, "refused"),
        ({"code": 20015, "message": "The parameter is invalid. Please check."}, "bad_request"),
        ({"code": 7, "message": "This model's maximum context length is 4096 tokens."}, "context_too_long"),
    ],
)
async def test_a_document_with_a_number_of_the_server_as_its_code_is_understood_by_its_words(
    scripted: ScriptedModel, error: dict[str, Any], code: str
) -> None:
    scripted.script(mode="status", status=200, body=json.dumps(error, ensure_ascii=False))
    failed = await failure_of(build_adapter(scripted))
    assert (failed.code, str(error.get("message") or error["msg"]) in failed.message) == (code, True)


@pytest.mark.parametrize(
    ("status", "body", "code", "text"),
    [
        pytest.param(200, PAGE, "not_found", WEB_PAGE, id="a start page"),
        pytest.param(200, f"\ufeff\n{PAGE}", "not_found", WEB_PAGE, id="after a byte order mark"),
        pytest.param(200, "<html><body>Please sign in.", "not_found", WEB_PAGE, id="half a page"),
        pytest.param(404, PAGE, "not_found", f"The model's server answered 404: {WEB_PAGE}", id="a page with 404"),
        pytest.param(405, PAGE, "not_found", f"The model's server answered 405: {WEB_PAGE}", id="a page with 405"),
        pytest.param(
            502, FIRST_PROXY_PAGE, "server", "The model's server answered 502: 502 Bad Gateway", id="a page of a proxy"
        ),
        pytest.param(
            200, "Ollama is running", "garbled", "The model's server sent no answer: Ollama is running", id="a text"
        ),
        pytest.param(
            400,
            "<Error><Code>Bad</Code><Message>No &lt;model&gt;</Message></Error>",
            "bad_request",
            "The model's server answered 400: Bad No <model>",
            id="XML",
        ),
        pytest.param(
            400,
            json.dumps({"message": "Expected <tool> before <end>"}),
            "bad_request",
            "The model's server answered 400: Expected <tool> before <end>",
            id="a text with angle brackets",
        ),
    ],
)
async def test_a_page_says_that_the_address_is_wrong_and_no_text_has_markup(
    scripted: ScriptedModel, status: int, body: str, code: str, text: str
) -> None:
    scripted.script(mode="status", status=status, body=body)
    failed = await failure_of(build_adapter(scripted))
    assert (failed.code, failed.message) == (code, text)


async def test_a_list_of_models_that_is_a_page_says_that_the_address_is_wrong(scripted: ScriptedModel) -> None:
    scripted.script(mode="models", body=PAGE)
    with pytest.raises(LLMError) as failed:
        await list_models(Endpoint("openai_compatible", scripted.api_base, KEY, "workspace"))
    assert (failed.value.code, failed.value.message) == ("not_found", WEB_PAGE)


@pytest.mark.parametrize(
    "event",
    [
        {"choices": [], "message": "This is fine."},
        {"object": "chat.completion.chunk", "choices": None, "msg": "keep alive"},
        {"type": "ping"},
        {"error": None, "choices": []},
    ],
)
async def test_an_event_of_an_answer_is_no_error_whatever_else_it_says(
    scripted: ScriptedModel, event: dict[str, Any]
) -> None:
    scripted.script(mode="events", events=[{"raw": f"data: {json.dumps(event)}\n\n"}, *events("whole")])
    assert (await answer_of(build_adapter(scripted))).text == "whole"
