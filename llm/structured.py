"""Answers by a schema: how a model is asked for one, how it is read, and what the model is told about an invalid one.

A model that has tools is made to call one tool, whose arguments are the answer. Others are asked for JSON. The loop of a run asks
again when an answer is invalid (`runs.runtime.loop`). A run that works with tools of its own is offered this one beside them, and
only made to call it once it has answered otherwise.
"""

import json
import re
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from common.bounded import BoundedMap
from common.text import to_storable_json, unwrap_json_object
from llm.messages import Answer, Chunk, ModelRequest, ToolSchema, Turn
from llm.protocol import LLM, LLMError

M = TypeVar("M", bound=BaseModel)
Technique = Literal["tool", "json", "text"]

MAX_REPAIRS = 2
"""How often a model is asked again for an answer that is invalid."""
MAX_ANSWER = 1_000_000
"""Characters of an answer."""
MAX_PROBLEMS = 10
"""Errors of validation that a model is told."""
MAX_REPEATED = 20_000
"""Characters of an invalid answer that a model reads when it is asked again."""
TECHNIQUES: tuple[Technique, ...] = ("tool", "json", "text")
"""A forced call of a tool, the JSON mode of the provider, and plain text. The next one is used when a server refuses one."""
REFUSALS = ("bad_request", "not_found", "no_tools")
"""Codes of `LLMError` by which servers refuse tools, or the JSON mode."""
_FENCE_START = re.compile(r"```(?:json)?[ \t]*\n")

_techniques: BoundedMap[str, Technique] = BoundedMap(10_000)
"""The technique by which each model (`build_origin`) has answered."""


class InvalidAnswer(Exception):
    """The answer of a model cannot be used. The text of the exception says why, in English, to people and to the model.

    `code`: `too_long`, `no_json` or `wrong_shape`; empty if a check refused it. `problems`: the same for the model, in detail.
    """

    def __init__(self, text: str, *, code: Literal["", "too_long", "no_json", "wrong_shape"] = "", problems: str = ""):
        super().__init__(text)
        self.code = code
        self.problems = problems or text


@dataclass(frozen=True)
class AnswerForm:
    """The schema of an answer. `name` and `description` are those of the tool that the model calls. `schema`: a Pydantic model,
    or the JSON schema of an object, which `check` has to apply. `check` raises `InvalidAnswer`, also for what no schema can
    express. `max_repairs`: how often the model is asked again. `must_fit`: a run fails whose answer is still invalid then; else
    the answer is kept as it is."""

    name: str
    description: str
    schema: type[BaseModel] | dict[str, Any]
    check: Callable[[Any], object] | None = None
    max_repairs: int = MAX_REPAIRS
    must_fit: bool = False

    def find_problems(self, answer: Answer) -> str:
        """Return what is wrong with an answer, for the model, or an empty text. It may take a while for a long answer."""
        try:
            schema, text = self.schema, answer.text
            parsed: Any = parse_json(text) if isinstance(schema, dict) else parse_answer(schema, text)
            if self.check is not None:
                self.check(parsed)
        except InvalidAnswer as error:
            is_cut = " It was cut at the limit of its length: write less." if answer.finish == "length" else ""
            return f"{error.problems}{is_cut}"
        return ""

    def build_tool(self) -> ToolSchema:
        """Return the tool whose arguments are the answer."""
        return ToolSchema(self.name, self.description, self.build_schema())

    def build_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the answer, for the model."""
        return self.schema if isinstance(self.schema, dict) else build_json_schema(self.schema)

    def add_to_request(self, request: ModelRequest, *, is_repair: bool = False) -> ModelRequest:
        """Return the request with the tool. The model has to call it, unless it has other tools and this is no repair."""
        tool_choice = "" if request.tools and not is_repair else self.name
        return replace(request, tools=[*request.tools, self.build_tool()], tool_choice=tool_choice)

    def change_technique(self, request: ModelRequest, technique: Technique) -> ModelRequest:
        """Return a request of `add_to_request` with another technique."""
        if technique == "tool":
            return request
        tools = [tool for tool in request.tools if tool.name != self.name]
        schema = json.dumps(self.build_schema(), ensure_ascii=False)
        when = "When you have what you need, answer" if tools else "Answer"
        text = f"{when} with one JSON object only, which follows this JSON schema:\n{schema}"
        first, *rest = request.turns
        if first.role == "system":
            turns = [replace(first, text=f"{first.text}\n\n{text}"), *rest]
        else:
            turns = [Turn("system", text), *request.turns]
        return replace(request, turns=turns, tools=tools, tool_choice="", wants_json=technique == "json")

    def unwrap(self, answer: Answer, other_tools: Collection[str] = ()) -> Answer:
        """Return an answer whose text is the arguments of the call of the tool, if the model has called it."""
        call = next((call for call in answer.calls if call.name == self.name), None)
        if call is None:
            return answer
        if others := tuple(call for call in answer.calls if call.name in other_tools):
            # It has answered before it has read what these calls bring.
            return replace(answer, calls=others)
        finish = "stop" if answer.finish == "tool_calls" else answer.finish
        return replace(answer, text=unwrap_json_object(call.arguments), calls=(), finish=finish, provider_fields=None)


def parse_answer(schema: type[M], text: str) -> M:
    """Return the validated answer from a text, which may be JSON in a Markdown fence. Raises `InvalidAnswer`."""
    value = _load_json(text)
    try:
        return schema.model_validate(value)
    except ValidationError as error:
        path = ".".join(map(str, error.errors()[0]["loc"]))
        problems = f"The answer has the wrong shape:\n{describe_errors(error)}"
        raise InvalidAnswer(
            f"The answer has the wrong shape ({path or 'all of it'}).", code="wrong_shape", problems=problems
        ) from error
    except RecursionError as error:
        raise InvalidAnswer("The answer is not JSON.", code="no_json") from error


def parse_json(text: str) -> dict[str, Any]:
    """Return the JSON object of an answer, as `parse_answer` reads it, without a schema. Raises `InvalidAnswer`."""
    value = _load_json(text)
    if not isinstance(value, dict):
        raise InvalidAnswer("The answer is no JSON object.", code="wrong_shape")
    return value


def _load_json(text: str) -> Any:
    if len(text) > MAX_ANSWER:
        raise InvalidAnswer("The answer is too long.", code="too_long")
    # One regular expression for the whole block takes hours if an answer repeats the beginning of a block often enough.
    start, end = _FENCE_START.search(text), text.rfind("```")
    if start and start.end() <= end:
        text = text[start.end() : end]
    try:
        return to_storable_json(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise InvalidAnswer("The answer is not JSON.", code="no_json") from error


def describe_errors(error: ValidationError) -> str:
    """Return the first errors of a validation, one a line, without the values that the model has written."""
    errors = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"- {_describe_path(one['loc'])}: {one['msg'][:200]}" for one in errors[:MAX_PROBLEMS]]
    more = len(errors) - len(lines)
    return "\n".join([*lines, f"- and {more} more"] if more > 0 else lines)


def _describe_path(path: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:40] for part in path)[:200] or "the whole answer"


def build_repair_turns(text: str, problems: str) -> list[Turn]:
    """Return an invalid answer and what is wrong with it, as the end of the conversation in which the model is asked again."""
    if len(text) > MAX_REPEATED:
        half = MAX_REPEATED // 2
        text = f"{text[:half]}\n[{len(text) - 2 * half} characters are left out here]\n{text[-half:]}"
    order = "Your answer cannot be used. Send the whole answer again, with this put right:"
    return [Turn("assistant", text), Turn("user", f"{order}\n{problems}")]


def build_json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of an answer without references and titles, which some providers do not read. The schema must not
    refer to itself."""
    whole = schema.model_json_schema(by_alias=True)
    definitions = whole.pop("$defs", {})
    inlined: dict[str, Any] = _inline(whole, definitions)
    return inlined


def _inline(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inline(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inline(definitions[node["$ref"].rpartition("/")[2]], definitions)
    # A property that is called `title` has a schema as its value, and is kept.
    return {
        key: _inline(value, definitions)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }


class StructuredModel:
    """Sends a request of `AnswerForm.add_to_request` to another `LLM`, and yields the answer as text, whichever technique its
    server accepts. `origin`: the name of the model (`build_origin`), whose technique is remembered in this process."""

    def __init__(self, llm: LLM, form: AnswerForm, origin: str) -> None:
        self._llm = llm
        self._form = form
        self._origin = origin

    async def ask(self, request: ModelRequest) -> AsyncGenerator[Chunk | Answer, None]:
        """Send the request. Raises `LLMError`."""
        first = TECHNIQUES.index(_techniques.get(self._origin, TECHNIQUES[0]))
        other_tools = {tool.name for tool in request.tools} - {self._form.name}
        for technique in TECHNIQUES[first:]:
            has_yielded = False
            try:
                async with aclosing(self._llm.ask(self._form.change_technique(request, technique))) as parts:
                    calls: set[int] = set()
                    async for part in parts:
                        has_yielded = True
                        if isinstance(part, Answer):
                            _techniques.set(
                                self._origin, technique
                            )  # before the yield: the caller may not resume this generator
                            yield self._form.unwrap(part, other_tools)
                        else:
                            yield self._unwrap_chunk(part, calls)
                return
            except LLMError as error:
                if has_yielded or error.code not in REFUSALS or technique == TECHNIQUES[-1]:
                    raise

    def _unwrap_chunk(self, chunk: Chunk, calls: set[int]) -> Chunk:
        """Return a chunk of the arguments of the tool as text. `calls`: the indices of the calls of the tool so far."""
        if chunk.part != "arguments":
            return chunk
        if chunk.name == self._form.name:
            calls.add(chunk.index)
        return Chunk("text", chunk.text) if chunk.index in calls else chunk
