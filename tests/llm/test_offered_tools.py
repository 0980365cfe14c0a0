"""Tools are sent in a form that each provider accepts, and a model that calls none is recognised."""

import json
from dataclasses import replace
from typing import Any

import pytest

from common.bounded import BoundedMap
from llm.adapters import openai
from llm.client import test_model as run_test
from llm.errors import NO_TOOLS
from llm.messages import ModelRequest, ToolSchema, Turn
from llm.protocol import Endpoint
from tests.llm.adapter import KEY, answer_of, build_adapter, failure_of, scripted
from tests.scripted_model import ScriptedModel

__all__ = ["scripted"]

ARRAY = {"type": "array"}
ANY_ARRAY = {"type": "array", "items": {}}


def ask_with(parameters: dict[str, Any]) -> ModelRequest:
    return ModelRequest("scripted", [Turn("user", "Hello")], [ToolSchema("x", "A tool.", parameters)])


def find_incomplete(schema: Any, path: str = "") -> str | None:
    """Return where a server that checks schemas as OpenAI does refuses this one, or null."""
    if isinstance(schema, list):
        return next(filter(None, (find_incomplete(one, f"{path}/{n}") for n, one in enumerate(schema))), None)
    if not isinstance(schema, dict):
        return None
    kinds = schema.get("type")
    if ("array" in kinds if isinstance(kinds, list) else kinds == "array") and "items" not in schema:
        return path or "/"
    return next(filter(None, (find_incomplete(one, f"{path}/{key}") for key, one in schema.items())), None)


@pytest.mark.parametrize(
    ("properties", "sent"),
    [
        pytest.param({"paths": ARRAY}, {"paths": ANY_ARRAY}, id="a property"),
        pytest.param({"a": {"type": ["array", "null"]}}, {"a": {"type": ["array", "null"], "items": {}}}, id="types"),
        pytest.param(
            {"a": {"anyOf": [ARRAY, {"type": "null"}]}}, {"a": {"anyOf": [ANY_ARRAY, {"type": "null"}]}}, id="anyOf"
        ),
        pytest.param(
            {"a": {"type": "array", "items": ARRAY}}, {"a": {"type": "array", "items": ANY_ARRAY}}, id="nested"
        ),
        pytest.param(
            {"a": {"type": "object", "additionalProperties": ARRAY}},
            {"a": {"type": "object", "additionalProperties": ANY_ARRAY}},
            id="additional properties",
        ),
        pytest.param(
            {"a": {"type": "array", "prefixItems": [ARRAY]}},
            {"a": {"type": "array", "prefixItems": [ANY_ARRAY], "items": {}}},
            id="a tuple",
        ),
        pytest.param(
            {"type": {"enum": ["array"], "default": ARRAY}},
            {"type": {"enum": ["array"], "default": ARRAY}},
            id="a property of the name type, and a value that looks like a schema",
        ),
        pytest.param({"a": {"type": "array", "items": False}}, {"a": {"type": "array", "items": False}}, id="no items"),
    ],
)
async def test_each_array_says_what_its_items_are(
    scripted: ScriptedModel, properties: dict[str, Any], sent: dict[str, Any]
) -> None:
    definitions = {"d": {"type": "object", "properties": properties}}
    schema = {"type": "object", "properties": properties, "$defs": definitions}
    before = json.dumps(schema)
    scripted.script(text="Fine.")
    await answer_of(build_adapter(scripted), ask_with(schema))
    [tool] = scripted.requests[-1].body["tools"]
    assert tool["function"]["parameters"] == {
        "type": "object",
        "properties": sent,
        "$defs": {"d": {"type": "object", "properties": sent}},
    }
    assert json.dumps(schema) == before
    parameters = tool["function"]["parameters"]
    assert find_incomplete({name: parameters[name] for name in ("$defs",)} if "type" not in properties else {}) is None


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"properties": {}}])
async def test_a_tool_without_arguments_is_an_object_without_properties(
    scripted: ScriptedModel, schema: dict[str, Any]
) -> None:
    scripted.script(text="Fine.")
    await answer_of(build_adapter(scripted), ask_with(schema))
    [tool] = scripted.requests[-1].body["tools"]
    assert tool["function"]["parameters"] == {"type": "object", "properties": {}}


REFUSALS = {
    "Ollama": (400, "registry.ollama.ai/library/gemma:2b does not support tools"),
    "OpenRouter": (404, "No endpoints found that support tool use. To learn more about provider routing, visit …"),
    "vLLM": (400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    "llama.cpp": (500, "tools param requires --jinja flag"),
    "Groq": (400, "`tool calling` is not supported with this model"),
    "a proxy": (422, "This model doesn't support function calling."),
}


@pytest.mark.parametrize("provider", REFUSALS)
async def test_a_model_without_tools_has_a_reason_of_its_own(scripted: ScriptedModel, provider: str) -> None:
    status, text = REFUSALS[provider]
    scripted.script(mode="status", status=status, error=text)
    failed = await failure_of(build_adapter(scripted), ask_with({"type": "object"}))
    assert (failed.code, failed.retryable) == ("no_tools", False)
    assert failed.message == f"{NO_TOOLS} The model's server answered {status}: {text}"
    # Without tools in the request it is another error.
    assert (await failure_of(build_adapter(scripted))).code == "bad_request"


@pytest.mark.parametrize(
    "text", ["The tool 'x' is not defined", "Unsupported value: 'temperature'", "tools: expected at most 128 tools"]
)
async def test_another_fault_of_a_tool_is_a_wrong_request(scripted: ScriptedModel, text: str) -> None:
    scripted.script(mode="status", status=400, error=text)
    assert (await failure_of(build_adapter(scripted), ask_with({}))).code == "bad_request"


async def test_the_test_of_a_model_finds_that_it_calls_no_tools(scripted: ScriptedModel) -> None:
    endpoint = Endpoint("openai_compatible", scripted.api_base, KEY, "workspace")
    scripted.script(text="OK")
    scripted.script(mode="status", status=400, error=REFUSALS["Ollama"][1], times=1)
    result = await run_test(endpoint, "scripted")
    assert (result.ok, result.code, result.message) == (True, "no_tools", NO_TOOLS)
    assert ["tools" in request.body for request in scripted.requests] == [True, False]
    # A model that calls the tool has answered.
    scripted.reset()
    scripted.script(calls=[{"name": "current_time", "arguments": "{}"}])
    result = await run_test(endpoint, "scripted")
    assert (result.ok, result.code, len(scripted.requests)) == (True, "", 1)


@pytest.mark.parametrize(
    "text",
    [
        "Invalid schema for function 'bad': In context=(), array schema missing items",
        "tools.1.custom.input_schema: JSON schema is invalid",
        "Invalid 'tools[1].function.parameters': keyword not supported",
        "The parameters of bad are too deep",
    ],
)
async def test_only_the_tool_that_the_provider_refuses_is_left_out(scripted: ScriptedModel, text: str) -> None:
    good, bad = ToolSchema("good", "Fine.", {"type": "object"}), ToolSchema("bad", "Not.", {"$ref": "#/x"})
    request = ModelRequest("scripted", [Turn("user", "Hello")], [good, bad])
    scripted.script(text="Fine.")
    scripted.script(mode="status", status=400, error=text, times=1)
    answer = await answer_of(build_adapter(scripted), request)
    assert answer.left_out_tools == {"bad": f"The model's server answered 400: {text}"}
    names = [[tool["function"]["name"] for tool in sent.body["tools"]] for sent in scripted.requests]
    assert names == [["good", "bad"], ["good"]]
    # It is remembered, until its schema is another one.
    assert (await answer_of(build_adapter(scripted), request)).left_out_tools.keys() == {"bad"}
    assert len(scripted.requests) == 3
    changed = replace(request, tools=[good, replace(bad, parameters={"type": "object"})])
    assert (await answer_of(build_adapter(scripted), changed)).left_out_tools == {}


@pytest.mark.parametrize("named", ["function 'bad'", "tools[0]"])
async def test_a_server_that_goes_on_to_refuse_a_tool_that_it_is_not_sent_is_asked_no_more(
    scripted: ScriptedModel, named: str
) -> None:
    tools = [ToolSchema(name, "", {"type": "object"}) for name in ("bad", "good")]
    scripted.script(mode="status", status=400, error=f"Invalid schema: {named}")
    failed = await failure_of(build_adapter(scripted), ModelRequest("scripted", [Turn("user", "Hello")], tools))
    assert failed.code == "bad_request"
    sent = [[tool["function"]["name"] for tool in request.body.get("tools", [])] for request in scripted.requests]
    assert sent == ([["bad", "good"], ["good"]] if named == "function 'bad'" else [["bad", "good"], ["good"], []])


@pytest.mark.parametrize("text", ["Invalid schema for functions good and bad", "Invalid parameters: temperature"])
async def test_a_refusal_that_names_no_single_tool_is_an_error(scripted: ScriptedModel, text: str) -> None:
    tools = [ToolSchema(name, "", {"type": "object"}) for name in ("good", "bad")]
    scripted.script(mode="status", status=400, error=text)
    failed = await failure_of(build_adapter(scripted), ModelRequest("scripted", [Turn("user", "Hello")], tools))
    assert (failed.code, len(scripted.requests)) == ("bad_request", 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_the_stamp_says_which_tool_was_left_out(environment, monkeypatch):
    monkeypatch.setattr(openai, "_refused_tools", BoundedMap(2))
    environment.model.script(text="Fine.")
    environment.model.script(mode="status", status=400, error="Invalid schema for function 'current_time'", times=1)
    environment.post("hello")
    assert environment.wait_until_idle()[0].state == "completed"
    [tool] = environment.log("TEXT_MESSAGE")[-1].payload["stamp"]["left_out_tools"]
    assert (tool["name"], "Invalid schema" in tool["reason"]) == ("current_time", True)
