"""Which tool the demo model calls, if any: when it is told to, or when the question fits one."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agents.llm.demo.situation import Situation
from agents.llm.exchange import ToolSchema


@dataclass(frozen=True)
class Wish:
    """A tool it wants to call. `missing` names required arguments it has nothing for: then it does not call."""

    tool: ToolSchema
    arguments: dict[str, Any]
    missing: tuple[str, ...] = ()


TIME = re.compile(
    r"\btime (?:is it|now|zone|in|at|right)\b|\b(?:current|local) time\b|\btime\b[^?]*\?|what(?:'s| is) the (?:time|date)|"
    r"\bwhat day is|\btoday's date\b|幾點|几点|什麼時間|什么时间|現在時間|现在时间|當地時間|当地时间|的時間|的时间|"
    r"今天.{0,3}(?:幾號|几号|星期幾|星期几|日期)|幾月幾|几月几|星期幾|星期几|何時",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:in|at|for)\s+(?P<place>[A-Za-zÀ-ÿ][\w/' .-]*?)(?=\s+(?:right|now|today|at|please)\b|[?!,.;:]|\s*$)", re.I
)
_PLACE_BEFORE = re.compile(r"\b(?P<place>[A-Z][\w/-]+(?: [A-Z]\w+)?)(?:'s)?\s+(?:local )?time\b")
_PLACE_ZH = re.compile(r"(?P<place>[\u4e00-\u9fff]{2,6})")
_NOT_A_PLACE_ZH = re.compile(
    r"[你您]好|大家好|嗨|哈囉|哈喽|請問|请问|告訴我|告诉我|現在|现在|目前|此刻|今天|當地|当地|幾點鐘?|几点钟?|時間|时间|日期|星期[幾几]|[幾几]月[幾几][號号日]|"
    r"[幾几]號|[幾几]号|什麼|什么|多少|用工具|幫我|帮我|查一下|查詢|查询|一下|何時|[的是了呢嗎吗啊请請查看問问在]|工具|呼叫|調用|调用"
)
_URL = re.compile(r"https?://[^\s<>\"”」)。，、！？；]*[^\s<>\"”」)。，、！？；.,;:!?]")
_ORDER = r"\b(?:use|call|run|invoke|try|ask|tell)\b|用|使用|呼叫|調用|调用|執行|执行|問|问|叫"
_ALWAYS = re.compile(
    rf"(?:\b(?:always|first|before (?:you )?answer\w*,?)\s+|(?:一律|總是|总是|必須|必须|每次都?|先)\s*)(?:{_ORDER})",
    re.I,
)
_ABOUT = re.compile(r"^\W*(?:tool\b|工具)?\W*(?:with|for|about|to|that|on|of|and say|:|：|說|说|查|找|問|问)?\W*", re.I)
_SEARCH = re.compile(
    r"\b(?:search|look up|find|google)\b(?:\s+(?:the web|online|for|on the web))*\s+(?P<q>.+)|"
    r"(?:搜尋|搜索|查詢|查询|找找?)(?P<z>.+)",
    re.I,
)


REVISE = "revise_prompt"
# An order for good, not for this answer: what follows, or came before, is the instruction.
_FOR_GOOD = re.compile(
    r"\b(?:from now on|from here on|in (?:the )?future|henceforth)\b[\s,:]*|"
    r"(?:從現在起|从现在起|從現在開始|从现在开始|從今以後|从今以后|今後|今后|以後|以后|往後|往后|從此|从此)(?:請|请|都|,|，|：|:|\s)*",
    re.IGNORECASE,
)
_ALWAYS_DO = re.compile(
    r"^\W*(?:please\s+)?(?P<order>(?:always|never)\s+\w.*|(?:一律|每次都)\S.*)$", re.IGNORECASE | re.DOTALL
)
_ASKS = re.compile(r"[?？]\s*$|[嗎吗呢]\W*$")


def wish_of(situation: Situation) -> Wish | None:
    """The call that the moment asks for. After a result there is none: the demo model calls once, then answers."""
    if situation.results or not situation.tools:
        return None
    return next(
        (wish for rule in (_revised, _ordered, _time, _page, _search, _always) for wish in rule(situation)), None
    )


def _revised(situation: Situation) -> Iterator[Wish]:
    """Told how to be from now on, it writes that below its prompt."""
    tool, order = situation.tool(REVISE), _order_for_good(situation.question)
    if tool is None or not order:
        return
    lines = situation.prompt.split("\n")
    mark = "- " if lines[-1].startswith("- ") else ""
    prompt = "\n".join([*lines, f"{mark}{order}"]).strip("\n")
    yield _filled(tool, json.dumps({"prompt": prompt, "reason": situation.question[:200]}), situation)


def _order_for_good(question: str) -> str:
    """What it is to do from now on, as a sentence; empty when it is told nothing of the kind."""
    if _ASKS.search(question):
        return ""
    if found := _ALWAYS_DO.search(question):
        order = found["order"]
    elif _FOR_GOOD.search(question):
        order = _FOR_GOOD.sub(" ", question)
    else:
        return ""
    order = re.sub(r"^(?:please|you should|i want you to)\s+", "", order.strip(" ,，。.!！\n"), flags=re.IGNORECASE)
    return f"{order[:1].upper()}{order[1:]}{'。' if _PLACE_ZH.search(order) else '.'}" if order else ""


def _ordered(situation: Situation) -> Iterator[Wish]:
    """The question names a tool: "call current_time for Tokyo", "用 current_time 查東京"."""
    for tool in situation.tools:
        name = re.escape(tool.name).replace("_", "[_ ]")
        if found := re.search(
            rf"(?:{_ORDER})[^.\n]{{0,20}}?(?<![A-Za-z0-9_]){name}(?![A-Za-z0-9_])(?P<rest>.*)",
            situation.question,
            re.I | re.S,
        ):
            yield _filled(tool, found["rest"], situation)


def _time(situation: Situation) -> Iterator[Wish]:
    tool = situation.tool("current_time")
    if tool and TIME.search(situation.question):
        yield _filled(tool, "", situation)


def _page(situation: Situation) -> Iterator[Wish]:
    """The question holds an address, and there is a tool that takes one."""
    if url := _URL.search(situation.question):
        for tool in situation.tools:
            if "url" in _properties(tool):
                yield _filled(tool, url[0], situation)


def _search(situation: Situation) -> Iterator[Wish]:
    if found := _SEARCH.search(situation.question):
        for tool in situation.tools:
            if "search" in tool.name:
                yield _filled(tool, found["q"] or found["z"], situation)


def _always(situation: Situation) -> Iterator[Wish]:
    """The prompt says to call a tool every time: "always call current_time first"."""
    for found in _ALWAYS.finditer(situation.prompt):
        named = situation.prompt[found.end() : found.end() + 60]
        for tool in situation.tools:
            if tool.name in named and situation.question:
                yield _filled(tool, "", situation)


# --- arguments ----------------------------------------------------------------------------------------------------


def _properties(tool: ToolSchema) -> dict[str, Any]:
    return dict(tool.parameters.get("properties", {}))


def _filled(tool: ToolSchema, rest: str, situation: Situation) -> Wish:
    """The tool with arguments: those spelled out, then what the question gives. Nothing is made up."""
    properties = _properties(tool)
    spelled = {key: value for key, value in _spelled_out(rest, properties).items() if key in properties}
    arguments = spelled or {}
    for key in properties:
        if key not in arguments and (value := _given(key, rest, situation)) is not None:
            arguments[key] = value
    required = tool.parameters.get("required", ())
    open_ones = [key for key in required if key not in arguments and properties.get(key, {}).get("type") == "string"]
    text = _ABOUT.sub("", rest).strip(' 。.？?！!"“”「」')
    if len(open_ones) == 1 and text and not spelled:
        arguments[open_ones[0]] = text
    return Wish(tool, arguments, tuple(key for key in required if key not in arguments))


def _spelled_out(text: str, properties: dict[str, Any]) -> dict[str, Any]:
    """Arguments written as JSON, or as `key=value`."""
    if found := re.search(r"\{.*\}", text, re.DOTALL):
        try:
            read = json.loads(found[0])
        except ValueError:
            return {}
        return read if isinstance(read, dict) else {}
    pairs = re.findall(r"(\w+)\s*[=＝]\s*(\"[^\"]*\"|“[^”]*”|「[^」]*」|[^\s,，;；]+)", text)
    return {key: _typed(value.strip('"“”「」'), properties.get(key, {})) for key, value in pairs}


def _typed(text: str, schema: dict[str, Any]) -> Any:
    """Text as the schema wants it, where that is plain."""
    if schema.get("type") in ("integer", "number", "boolean"):
        try:
            return json.loads(text.lower())
        except ValueError:
            return text
    return text


def _given(key: str, rest: str, situation: Situation) -> str | None:
    """What the question says for an argument of such a name."""
    if key in ("timezone", "time_zone", "tz", "zone", "city", "place", "location"):
        return _place(rest) or _place(situation.question) or "UTC"
    if key == "url" and (url := _URL.search(rest) or _URL.search(situation.question)):
        return url[0]
    return None


def _place(text: str) -> str | None:
    if found := _PLACE.search(text) or _PLACE_BEFORE.search(text):
        return re.sub(r"^the ", "", found["place"].strip())
    bare = _NOT_A_PLACE_ZH.sub(" ", text)
    found = _PLACE_ZH.search(bare)
    return found["place"] if found else None
