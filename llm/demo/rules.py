"""Parse a request to the demo model: the question, the form of the answer that the prompt asks for, and a tool call."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm.messages import ModelRequest, ToolCall, ToolSchema

# The text that follows the prompt in the system text (`build_system_text` and `build_task_text` in `context.transcript`).
_IDENTITY = re.compile(
    r"(?:^|\n\n)You are (?P<name>[^\n]+?) \(@[^)\s]+\), an agent(?: in |(?P<is_sub_agent>\. (?:Another agent|A person)\b))"
)
HAN = re.compile(r"[\u3400-\u9fff]")
# Common characters that occur in simplified Chinese only.
_HANS = frozenset("这个们说话时间现东后国对发开关点会为来吗么过还进与请问写读学习语简单总结号当应该让给几湾谁条声纽约")
_LANGUAGES = (
    ("zh-hant", "traditional chinese|繁體中文|繁体中文"),
    ("zh-hans", "simplified chinese|簡體中文|简体中文"),
    ("zh", "chinese|中文"),
    ("en", "english|英文"),
)
_NOT = r"(?<!not )(?<!n't )(?<!never )(?<!不要)(?<!別)(?<!别)"
_SENTENCES = re.compile(r"\b(?:answer|reply)\b.{0,30}? in (?:at most )?(one|two|three) |用([一兩两二三])句.*回答", re.I)
_NUMBERS = {"one": 1, "two": 2, "three": 3, "一": 1, "兩": 2, "两": 2, "二": 2, "三": 3}
_CLOSING = re.compile(r"\bend\b[^.\n]{0,30}? with [\"“](.{1,80}?)[\"”]|以「(.{1,80}?)」[結结]尾", re.I)
_REVISE = "revise_prompt"
DELEGATE, PLAN_TASKS = "delegate", "plan_tasks"
SUB_AGENT_LINE = re.compile(r"^- (?P<handle>[\w-]+): (?P<name>[^.\n]+)\.", re.M)
"""A line of the description of `delegate` (`agents/sub_agents.py`) and of `plan_tasks` (`boards/agent_tools.py`)."""
_VERBS_BEFORE_AGENT = r"\b(?:use|call|run|ask|let|have|tell)\b|用|呼叫|調用|调用|請|请|讓|让|叫|交給|交给|問|问"
_VERBS_BEFORE_TOOL = r"\b(?:use|call|run|ask)\b|用|呼叫|調用|调用"
_TIME = re.compile(r"\btime (?:is it|in)\b|\bthe time\b|[幾几][點点]", re.I)
_CITY = re.compile(r"\b(?:in|for) (?P<city>[A-Za-z][\w/]*(?: [A-Z]\w*)*)")
_CITY_ZH = re.compile(r"(?P<city>[^\W現现在請请問问]{2,4}?)(?:現在|现在)?是?[幾几][點点]")
_URL = re.compile(r"https?://[^\s<>\"”」)。，、！？；]*[^\s<>\"”」)。，、！？；.,;:!?]")
_FROM_NOW_ON = re.compile(r"\bfrom now on\b[\s,:]*|(?:從現在起|从现在起|以後|以后|今後|今后)[請请都，,：:\s]*", re.I)
_ALWAYS = re.compile(r"^\W*(?:please\s+)?(?P<instruction>(?:always|never)\s+\w.*)$", re.I | re.S)


@dataclass(frozen=True)
class DemoConversation:
    """A question to the demo model. `results`: the calls that the model has made since the question, each with its result.
    `earlier_results`: those of the tasks that this one follows (`boards/services/task_inputs.py`)."""

    prompt: str
    name: str
    question: str
    language: str
    tools: Sequence[ToolSchema]
    results: Sequence[tuple[ToolCall, str]]
    max_sentences: int | None
    closing: str
    is_sub_agent: bool = False
    earlier_results: Sequence[Mapping[str, Any]] = ()


def read_conversation(request: ModelRequest) -> DemoConversation:
    """Parse a request. Instructions in the question take precedence over those in the prompt."""
    system = "\n\n".join(turn.text for turn in request.turns if turn.role == "system")
    identities = list(_IDENTITY.finditer(system))
    prompt = (system[: identities[-1].start()] if identities else system).strip()
    last = max((at for at, turn in enumerate(request.turns) if turn.role == "user"), default=-1)
    question = request.turns[last].text if last >= 0 else ""
    if "Messages of others begin with the name" in system:
        question = re.sub(r"^[^\n:：]{1,60}: ", "", question, count=1)
    question = re.sub(r"(?<!\S)@[\w-]+[:,，]?\s*", "", question).strip()
    question, earlier_results = _split_task(question)
    recent = request.turns[last + 1 :]
    results = {turn.call_id: turn.text for turn in recent if turn.role == "tool"}
    instructions = f"{question}\n{prompt}"
    number, closing = _SENTENCES.search(instructions), _CLOSING.search(instructions)
    return DemoConversation(
        prompt=prompt,
        name=identities[-1]["name"] if identities else "the demo model",
        question=question,
        language=_find_requested_language(question) or _find_requested_language(prompt) or detect_language(question),
        tools=request.tools,
        results=[(call, results[call.id]) for turn in recent for call in turn.calls if call.id in results],
        max_sentences=_NUMBERS[(number[1] or number[2]).lower()] if number else None,
        closing=(closing[1] or closing[2]) if closing else "",
        is_sub_agent=bool(identities and identities[-1]["is_sub_agent"]),
        earlier_results=earlier_results,
    )


def _split_task(message: str) -> tuple[str, list[dict[str, Any]]]:
    """Return a task without its context, if that has results of earlier tasks, and these results: they are data, and no question
    to the model (`TaskInput.build_message` in `runs/runtime/tasks.py`)."""
    text, _, context = message.rpartition("\n\nContext:\n")
    try:
        results = json.loads(context)["results"] if text else []
        found = [dict(result) for result in results]
    except (TypeError, ValueError, KeyError):
        return message, []
    return (text, found) if found else (message, [])


def _find_requested_language(text: str) -> str | None:
    """Return the language in which the text asks to be answered. "Chinese" alone is the script of the text, or traditional if it
    has no Chinese characters."""
    for language, names in _LANGUAGES:
        instruction = rf"\b(?:answer|reply|respond|write)\b[^.\n]{{0,30}}?\bin (?:{names})|用\s*(?:{names})"
        if re.search(rf"{_NOT}(?:{instruction})", text, re.I):
            return (detect_language(text) if HAN.search(text) else "zh-hant") if language == "zh" else language
    return None


def detect_language(text: str) -> str:
    """Return the language of a text: `zh-hant`, `zh-hans` or `en`."""
    if not HAN.search(text):
        return "en"
    return "zh-hans" if any(char in _HANS for char in text) else "zh-hant"


@dataclass(frozen=True)
class Call:
    """A tool to call. `missing`: the required arguments without a value; if there are any, it is not called."""

    tool: ToolSchema
    arguments: dict[str, Any]
    missing: tuple[str, ...] = ()


def find_call(conversation: DemoConversation) -> Call | None:
    """Return the call of the first rule that matches the question; null after a result: the demo model calls only once."""
    if conversation.results:
        return None
    return find_requested_call(conversation) or _find_suitable_call(conversation)


def find_requested_call(conversation: DemoConversation) -> Call | None:
    """Return the call that the question asks for by the name of a tool or of an agent, or as a change of the prompt."""
    question, tools = conversation.question, {tool.name: tool for tool in conversation.tools}
    if _REVISE in tools and (instruction := _find_permanent_instruction(question)):
        bullet = "- " if conversation.prompt.split("\n")[-1].startswith("- ") else ""
        prompt = f"{conversation.prompt}\n{bullet}{instruction}".strip("\n")
        return Call(tools[_REVISE], {"prompt": prompt, "reason": question[:200]})
    if PLAN_TASKS in tools and (found_task := _find_task(tools[PLAN_TASKS], question)):
        handle, task = found_task
        arguments = {"reasoning": question[:200], "tasks": [{"agent": handle, "description": task}]}
        return Call(tools[PLAN_TASKS], arguments)
    if DELEGATE in tools and (found_task := _find_task(tools[DELEGATE], question)):
        handle, task = found_task
        return Call(tools[DELEGATE], {"name": handle, "task": task})
    for name, tool in tools.items():
        if found := re.search(
            rf"(?:{_VERBS_BEFORE_TOOL})\s*(?:the )?(?<!\w){re.escape(name)}(?!\w)(?P<rest>.*)", question, re.I | re.S
        ):
            return _build_call(tool, found["rest"], question)
    return None


def _find_suitable_call(conversation: DemoConversation) -> Call | None:
    """Return the call that answers a question for the time, for a page, or of a caller."""
    question, tools = conversation.question, {tool.name: tool for tool in conversation.tools}
    if "current_time" in tools and _TIME.search(question):
        return _build_call(tools["current_time"], "", question)
    for tool in conversation.tools:
        if "url" in tool.parameters.get("properties", {}) and _URL.search(question):
            return _build_call(tool, "", question)
    if conversation.is_sub_agent and "web_search" in tools:
        return Call(tools["web_search"], {"query": question[:200]})
    return None


def _find_task(tool: ToolSchema, question: str) -> tuple[str, str] | None:
    """Return the handle of the agent that the question names, and its task, or null if it names none."""
    agents = [(line["handle"], line["name"]) for line in SUB_AGENT_LINE.finditer(tool.description)]
    for handle, name in agents:
        pattern = (
            rf"(?:{_VERBS_BEFORE_AGENT})\s*(?:the )?@?"
            rf"(?<!\w)(?:{re.escape(handle)}|{re.escape(name)})(?![a-z0-9_-])(?P<task>.*)"
        )
        if found := re.search(pattern, question, re.I | re.S):
            task = re.sub(r"^\W*(?:(?:to|for|about|with|that)\b)?\s*", "", found["task"], flags=re.I).strip()
            return handle, task or question
    # A question with JSON arguments is left to `find_call`, which parses them.
    if (
        agents
        and "{" not in question
        and re.search(rf"(?:{_VERBS_BEFORE_TOOL})\s*(?:the )?{tool.name}(?!\w)", question, re.I)
    ):
        return agents[0][0], question
    return None


def _find_permanent_instruction(question: str) -> str:
    """Return what the question demands of all future answers, as a sentence; empty if it demands nothing of them."""
    always = _ALWAYS.search(question)
    if re.search(r"[?？]\s*$", question) or not (always or _FROM_NOW_ON.search(question)):
        return ""
    instruction = (always["instruction"] if always else _FROM_NOW_ON.sub(" ", question)).strip(" ,，。.!！\n")
    return (
        f"{instruction[:1].upper()}{instruction[1:]}{'。' if HAN.search(instruction) else '.'}" if instruction else ""
    )


def _build_call(tool: ToolSchema, rest: str, question: str) -> Call:
    """Return the call with the arguments that the question has as JSON, or as a city, a URL or a text."""
    properties = tool.parameters.get("properties", {})
    try:
        json_arguments = dict(json.loads(rest[rest.index("{") : rest.rindex("}") + 1]))
    except (TypeError, ValueError):
        json_arguments = {}
    arguments = {key: value for key, value in json_arguments.items() if key in properties}
    if "timezone" in properties:
        city = _CITY.search(rest) or _CITY.search(question) or _CITY_ZH.search(question)
        arguments.setdefault("timezone", city["city"] if city else "UTC")
    if "url" in properties and (url := _URL.search(question)):
        arguments.setdefault("url", url[0])
    missing = tuple(key for key in tool.parameters.get("required", ()) if key not in arguments)
    text = re.sub(r"^\W*(?:(?:to|for|about|with|that)\b)?\W*", "", rest, flags=re.I).strip(" .。")
    if len(missing) == 1 and text and properties[missing[0]].get("type") == "string":
        return Call(tool, arguments | {missing[0]: text})
    return Call(tool, arguments, missing)
