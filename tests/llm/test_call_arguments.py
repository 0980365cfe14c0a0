"""Arguments of a call that can mean only one object are read as that object, also when the call is sent back."""

import json

import pytest

from common.text import unwrap_json_object
from llm.messages import ModelRequest, ToolCall, Turn
from tests.llm.adapter import answer_of, build_adapter, scripted
from tests.scripted_model import ScriptedModel

__all__ = ["scripted"]

ZONE = '{"timezone": "Asia/Taipei"}'


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        pytest.param(json.dumps(ZONE), ZONE, id="the object as a string"),
        pytest.param("null", "{}", id="null"),
        pytest.param("", "{}", id="an empty text"),
        pytest.param(json.dumps(json.dumps(ZONE)), ZONE, id="a string in a string"),
        pytest.param(f" {json.dumps(f' {ZONE} ')}\n", ZONE, id="white space around both"),
        pytest.param('"null"', "{}", id="null as a string"),
        pytest.param('""', "{}", id="an empty string"),
        pytest.param(ZONE, ZONE, id="an object"),
        pytest.param('"Asia/Taipei"', '"Asia/Taipei"', id="another string"),
        pytest.param('"{broken"', '"{broken"', id="a string that is no object"),
        pytest.param("[1]", "[1]", id="a list"),
    ],
)
def test_arguments_are_read_as_the_object_that_they_mean(arguments: str, read: str) -> None:
    assert unwrap_json_object(arguments) == read


@pytest.mark.parametrize(("arguments", "sent"), [(json.dumps(ZONE), ZONE), ("null", "{}"), (ZONE, ZONE)])
async def test_a_provider_gets_the_object_back(scripted: ScriptedModel, arguments: str, sent: str) -> None:
    turns = [Turn("assistant", "", (ToolCall("a", "x", arguments),)), Turn("tool", "Noon.", call_id="a")]
    scripted.script(text="Fine.")
    await answer_of(build_adapter(scripted), ModelRequest("scripted", turns))
    [call] = scripted.requests[-1].body["messages"][0]["tool_calls"]
    assert call["function"]["arguments"] == sent
