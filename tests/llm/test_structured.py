"""Answers by a schema: how they are asked for, read and refused. These tests use no network."""

import json

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from common.bounded import BoundedMap
from llm import structured
from llm.messages import Answer, Chunk, ModelRequest, ToolCall, Turn, Usage
from llm.protocol import LLMError
from llm.structured import (
    MAX_ANSWER,
    MAX_REPEATED,
    AnswerForm,
    InvalidAnswer,
    StructuredModel,
    build_json_schema,
    build_repair_turns,
    describe_errors,
    parse_answer,
)


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)
    title: str
    source: str = Field(alias="from")


class Plan(BaseModel):
    model_config = ConfigDict(extra="forbid")
    parts: list[Part] = Field(min_length=1)


VALID = {"parts": [{"title": "示範 🌞", "from": "alice"}]}
REQUEST = ModelRequest("m", [Turn("system", "You plan."), Turn("user", "Plan!")])


def build_form(**fields):
    return AnswerForm("submit_plan", "Hand in the plan.", Plan, **fields)


def build_answer(text="", *calls, finish="stop"):
    return Answer(text, "", calls, Usage(1, 1), finish, "m")


@pytest.mark.parametrize(
    "text",
    [json.dumps(VALID), json.dumps(VALID, ensure_ascii=False), f"Here:\n```json\n{json.dumps(VALID)}\n```\nDone."],
)
def test_an_answer_is_read_as_json_also_in_a_fence(text):
    assert parse_answer(Plan, text).parts[0].title == "示範 🌞"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I cannot plan.", "no_json"),
        ("", "no_json"),
        ("[" * 200_000, "no_json"),
        ('{"parts":' * 100_000, "no_json"),
        ('{"parts": ' + "[" * 300 + "]" * 300 + "}", "no_json"),
        ('{"parts": NaN}', "no_json"),
        ('{"parts": ' + "9" * 10_000 + "}", "no_json"),
        (" " * (MAX_ANSWER + 1), "too_long"),
        ("```json\n" * 100_000, "no_json"),
        ('{"parts": []}', "wrong_shape"),
        ('{"parts": [{"title": 1, "from": "a"}]}', "wrong_shape"),
        ("null", "wrong_shape"),
        ("[]", "wrong_shape"),
    ],
)
def test_a_hostile_or_invalid_answer_is_refused(text, code):
    with pytest.raises(InvalidAnswer) as raised:
        parse_answer(Plan, text)
    assert raised.value.code == code


def test_no_text_of_a_parsed_answer_has_characters_that_cannot_be_stored():
    plan = parse_answer(Plan, '{"parts": [{"title": "a\\u0000\\ud800", "from": "b"}]}')
    assert plan.parts[0].title == "a?"


def test_the_model_is_told_where_its_answer_is_wrong_but_not_what_it_wrote():
    value = {"parts": [{"title": number, "from": "SECRET", "x" * 500: 1} for number in range(30)]}
    with pytest.raises(ValidationError) as raised:
        Plan.model_validate(value)
    lines = describe_errors(raised.value).split("\n")
    assert lines[0].startswith("- parts.0.title: ")
    assert (len(lines), lines[-1]) == (11, "- and 50 more")
    assert max(map(len, lines)) < 300
    assert "SECRET" not in "".join(lines)


def test_a_check_refuses_what_no_schema_expresses():
    def check(plan):
        if plan.parts[0].source != "bob":
            raise InvalidAnswer("Only Bob plans.")

    form = build_form(check=check)
    assert form.find_problems(build_answer(json.dumps(VALID))) == "Only Bob plans."
    assert form.find_problems(build_answer('{"parts": [{"title": "a", "from": "bob"}]}')) == ""
    cut = form.find_problems(build_answer('{"parts": [', finish="length"))
    assert cut == "The answer is not JSON. It was cut at the limit of its length: write less."


def test_a_schema_for_a_provider_has_no_references_and_no_titles():
    part = build_json_schema(Plan)["properties"]["parts"]["items"]
    assert "$ref" not in json.dumps(part)
    assert list(part["properties"]) == ["title", "from"]
    assert part["properties"]["title"] == {"type": "string"}


def test_a_long_invalid_answer_is_repeated_in_part():
    [answer, order] = build_repair_turns("a" * 500_000 + "end", "It is wrong.")
    assert len(answer.text) < MAX_REPEATED + 100
    assert answer.text.endswith("end")
    assert (answer.role, order.role, order.text.endswith("It is wrong.")) == ("assistant", "user", True)


class Server:
    """A model that refuses some techniques, and answers by a call if it is made to call a tool."""

    def __init__(self, *refused, error="bad_request"):
        self.refused = refused
        self.error = error
        self.requests = []

    async def ask(self, request):
        self.requests.append(request)
        technique = "tool" if request.tool_choice else "json" if request.wants_json else "text"
        if technique in self.refused:
            raise LLMError(self.error, f"No {technique}.")
        text = json.dumps(VALID)
        if technique == "tool":
            yield Chunk("arguments", text[:5], index=0, name=request.tool_choice)
            yield Chunk("arguments", text[5:], index=0)
            yield build_answer("", ToolCall("", request.tool_choice, text), finish="tool_calls")
        else:
            yield Chunk("text", text)
            yield build_answer(text)


async def ask(server, origin="test"):
    form = build_form()
    model = StructuredModel(server, form, origin)
    return [part async for part in model.ask(form.add_to_request(REQUEST))]


@pytest.fixture(autouse=True)
def _forget_techniques(monkeypatch):
    monkeypatch.setattr(structured, "_techniques", BoundedMap(10_000))


async def test_a_model_with_tools_is_made_to_call_one_and_its_arguments_are_the_text():
    server = Server()
    *chunks, answer = await ask(server)
    [request] = server.requests
    assert ([tool.name for tool in request.tools], request.tool_choice) == (["submit_plan"], "submit_plan")
    assert [chunk.part for chunk in chunks] == ["text", "text"]
    assert "".join(chunk.text for chunk in chunks) == answer.text == json.dumps(VALID)
    assert (answer.calls, answer.finish) == ((), "stop")


@pytest.mark.parametrize("code", ["bad_request", "not_found"])
@pytest.mark.parametrize(("refused", "count"), [(["tool"], 2), (["tool", "json"], 3)])
async def test_a_model_without_tools_is_asked_for_json_from_then_on(refused, count, code):
    server = Server(*refused, error=code)
    answer = (await ask(server))[-1]
    assert (answer.text, len(server.requests)) == (json.dumps(VALID), count)
    last = server.requests[-1]
    assert (list(last.tools), last.tool_choice, last.wants_json) == ([], "", count == 2)
    assert '"parts"' in last.turns[0].text
    assert last.turns[1:] == REQUEST.turns[1:]
    await ask(server)
    assert len(server.requests) == count + 1
    await ask(server, "another model")
    assert len(server.requests) == 2 * count + 1


@pytest.mark.parametrize(("error", "count"), [("bad_request", 3), ("server", 1), ("context_too_long", 1)])
async def test_a_model_that_refuses_everything_or_fails_is_an_error(error, count):
    server = Server("tool", "json", "text", error=error)
    with pytest.raises(LLMError) as raised:
        await ask(server)
    assert (raised.value.code, len(server.requests)) == (error, count)
