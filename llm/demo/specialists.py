"""The demo model as a specialist of a team, or as the agent that leads one: it calls the tools, and says honestly what came of it.

It recognises the part that it plays by the tools of the request. It knows no prices, no sights and no weather: what it says is
from results of tools, or is called an example.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Literal

from llm.demo.rules import PLAN_TASKS, SUB_AGENT_LINE, Call, DemoConversation, find_requested_call

Part = Literal["lead", "weather", "finance", "travel"]

PLACE, FORECAST = "find_place", "get_forecast"
RATES, BUDGET = "get_exchange_rates", "build_budget"
GUIDES, FETCH = "search_guides", "web_fetch"

MAX_DAYS = 14

_NUMBER_WORDS = "one two three four five six seven eight nine ten"
_NUMBERS = {word: at for at, word in enumerate(_NUMBER_WORDS.split(), 1)}
_NUMBERS |= {word: at for at, word in enumerate("一二三四五六七八九十", 1)} | {"兩": 2, "两": 2}
_NUMBER = rf"(?<![a-z\d])\d{{1,3}}|(?<![a-z])(?:{_NUMBER_WORDS.replace(' ', '|')})|[一二兩两三四五六七八九十]"
_DAYS = re.compile(rf"(?P<n>{_NUMBER})[ -]?(?:\w+ )?(?:days?|nights?)\b|(?P<zh>{_NUMBER}) ?[天日晚]", re.I)
_PEOPLE = re.compile(
    rf"(?P<n>{_NUMBER}) (?:people|persons|adults|friends|of us)\b|(?P<zh>{_NUMBER}) ?(?:個人|个人|人|位)", re.I
)
_LIMIT = re.compile(
    r"(?:under|below|within|at most|less than|limit of) \D{0,5}(?P<n>\d[\d,]*)"
    r"|(?P<zh>\d[\d,]*) ?(?:元|圓|日圓|日元)?(?:以內|以内|之內|之内|以下)",
    re.I,
)
_CURRENCY = re.compile(r"(?<![A-Z])(?:TWD|JPY|USD|EUR|CNY|HKD|GBP|KRW|SGD|AUD|CAD|CHF|THB|VND)(?![A-Z])")
_NO_PLACE = (
    r"(?!(?:January|February|March|April|May|June|July|August|September|October|November|December|I|[A-Z]{3}"
    r"|English|Chinese|Japanese|French|German|Spanish|Traditional|Simplified)\b"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)"
)
_PLACE = re.compile(
    rf"\b(?:in|to|at|around|visit|for) {_NO_PLACE}(?P<en>[A-Z][\w'-]*(?: [A-Z][\w'-]*)*)"
    r"|(?:去|到|在|遊|游)(?P<zh>[\u4e00-\u9fff]{2,4}?)(?=[玩旅最待住的，,。、？?！「」 \d一二兩两三四五六七八九十]|$)"
    r"|(?P<named>[\u4e00-\u9fff]{2,4}?)(?:的|明天|後天|后天|今天|這幾天|这几天|下週|下周)*(?:天氣|天气|景點|景点)"
)
_TRIP = re.compile(r"\b(?:trip|travel|journey|visit|days?|nights?)\b|[天晚]|旅[行遊游]|行程|玩", re.I)
_COORDINATES = re.compile(r"latitude (-?[\d.]+), longitude (-?[\d.]+)")
_DRY = re.compile(r"^Dry days [^:\n]*: (?P<days>.*)\.$", re.M)
_SOURCE = re.compile(r"^Source: .*$", re.M)
_FOUND_PAGE = re.compile(r"^\d+\. (?P<title>.+)\n   (?P<url>https?://\S+)$", re.M)
_LINK = re.compile(r"\[(?P<title>[^\]\n]+)\]\((?P<url>https?://[^\s)]+)\)")
_DAY_RUN = re.compile(r"(?P<first>\d{4}-\d\d-\d\d)(?: – (?P<last>\d{4}-\d\d-\d\d))?")
_JAPAN = ("kyoto", "tokyo", "osaka", "nara", "sapporo", "kobe", "京都", "東京", "东京", "大阪", "奈良", "札幌", "神戶")

_TEXTS = {
    "en": {
        "weather_task": "Find {days} dry days in a row in {place}, as soon as possible.",
        "travel_task": "Look up what there is to do in {place} in {days} days, with sources.",
        "finance_task": "Add up what {days} days in {place} cost {people} people.",
        "finance_limit": "Add up what {days} days in {place} cost {people} people, and say whether it is under {limit}.",
        "days_task": "Plan each of the {days} days in {place}: on the dry days, with the pages that were found.",
        "reasoning": "The demo model splits each trip in the same way: the weather, what there is to do and the costs do not depend"
        " on each other; the plan of the days needs the first two.",
        "lead": "Tasks of my plan: {count}. A real model would weigh the results; I only put them side by side.",
        "lead_missing": "**Missing:** {missing}. I invent nothing for it.",
        "lead_skipped": "a task before it has brought no result",
        "lead_cancelled": "it was not done any more",
        "lead_cost": "The tasks have cost ${cost}.",
        "lead_end": "Nothing is booked.",
        "weather": "The driest days in a row in {place} are {days}.",
        "weather_wet": "I found no dry day in {place} in this forecast.",
        "weather_failed": "I could not look up the weather in {place}: {result} So I name no weather.",
        "finance": "These prices are examples, not offers: I know none.",
        "finance_currency": "The limit has no currency, so I assumed {currency}.",
        "finance_failed": "I could not convert into {currency}: {result} So the sums are in {local}, and I cannot say whether the"
        " limit holds.",
        "finance_error": "I could not add it up: {result}",
        "travel": "Pages about {place}, one for each day to begin with:",
        "travel_day": "- Day {number}: [{title}]({url})",
        "travel_date": "- {date}: [{title}]({url})",
        "travel_given": "Pages for each day, from the results that I was given:",
        "travel_read": "From the first page: “{text}”",
        "travel_unread": "I could not open the first page: {result}",
        "travel_failed": "I found nothing about {place} in the travel guide: {result} So I name no sights.",
        "rates": "I asked for the rates, and this is the answer: {result}",
    },
    "zh-hant": {
        "weather_task": "請找出在{place}最近連續 {days} 天不下雨的日子。",
        "travel_task": "請查詢在{place} {days} 天可以做什麼，並附上出處。",
        "finance_task": "請加總 {people} 個人在{place} {days} 天的費用。",
        "finance_limit": "請加總 {people} 個人在{place} {days} 天的費用，並說明是否在 {limit} 以內。",
        "days_task": "請安排在{place}的 {days} 天行程：選不下雨的日子，並採用前面找到的頁面。",
        "reasoning": "示範模型用同一種方式拆分每次旅行：天氣、可以做什麼和費用互不相關；每天的行程需要前兩項的結果。",
        "lead": "我的計畫有 {count} 項任務。真正的模型會衡量各項結果；我只把它們並列出來。",
        "lead_missing": "**缺少：**{missing}。我不會替它編造內容。",
        "lead_skipped": "它需要的任務沒有結果",
        "lead_cancelled": "已不再執行",
        "lead_cost": "這些任務的費用是 ${cost}。",
        "lead_end": "沒有預訂任何東西。",
        "weather": "{place}連續最乾燥的日子是 {days}。",
        "weather_wet": "在這份預報裡，{place}沒有不下雨的日子。",
        "weather_failed": "我查不到{place}的天氣：{result} 所以我不說任何天氣。",
        "finance": "這些價格是舉例，不是報價：我不知道任何價格。",
        "finance_currency": "上限沒有寫幣別，我假設是 {currency}。",
        "finance_failed": "我無法換算成 {currency}：{result} 所以金額以 {local} 表示，也無法判斷是否在上限以內。",
        "finance_error": "我無法加總：{result}",
        "travel": "關於{place}的頁面，每天先看一頁：",
        "travel_day": "- 第 {number} 天：[{title}]({url})",
        "travel_date": "- {date}：[{title}]({url})",
        "travel_given": "依照我收到的結果，每天先看一頁：",
        "travel_read": "第一頁寫著：「{text}」",
        "travel_unread": "我打不開第一頁：{result}",
        "travel_failed": "我在旅遊指南中找不到{place}：{result} 所以我不說任何景點。",
        "rates": "我查詢了匯率，結果是：{result}",
    },
    "zh-hans": {
        "weather_task": "请找出在{place}最近连续 {days} 天不下雨的日子。",
        "travel_task": "请查询在{place} {days} 天可以做什么，并附上出处。",
        "finance_task": "请汇总 {people} 个人在{place} {days} 天的费用。",
        "finance_limit": "请汇总 {people} 个人在{place} {days} 天的费用，并说明是否在 {limit} 以内。",
        "days_task": "请安排在{place}的 {days} 天行程：选不下雨的日子，并采用前面找到的页面。",
        "reasoning": "示范模型用同一种方式拆分每次旅行：天气、可以做什么和费用互不相关；每天的行程需要前两项的结果。",
        "lead": "我的计划有 {count} 项任务。真正的模型会权衡各项结果；我只把它们并列出来。",
        "lead_missing": "**缺少：**{missing}。我不会替它编造内容。",
        "lead_skipped": "它需要的任务没有结果",
        "lead_cancelled": "已不再执行",
        "lead_cost": "这些任务的费用是 ${cost}。",
        "lead_end": "没有预订任何东西。",
        "weather": "{place}连续最干燥的日子是 {days}。",
        "weather_wet": "在这份预报里，{place}没有不下雨的日子。",
        "weather_failed": "我查不到{place}的天气：{result} 所以我不说任何天气。",
        "finance": "这些价格是举例，不是报价：我不知道任何价格。",
        "finance_currency": "上限没有写币种，我假设是 {currency}。",
        "finance_failed": "我无法换算成 {currency}：{result} 所以金额以 {local} 表示，也无法判断是否在上限以内。",
        "finance_error": "我无法汇总：{result}",
        "travel": "关于{place}的页面，每天先看一页：",
        "travel_day": "- 第 {number} 天：[{title}]({url})",
        "travel_date": "- {date}：[{title}]({url})",
        "travel_given": "按照我收到的结果，每天先看一页：",
        "travel_read": "第一页写着：“{text}”",
        "travel_unread": "我打不开第一页：{result}",
        "travel_failed": "我在旅游指南中找不到{place}：{result} 所以我不说任何景点。",
        "rates": "我查询了汇率，结果是：{result}",
    },
}
_LABELS = {
    "en": ("Flights, there and back", "Room for two, a night", "Trains and buses, a day", "Meals, a day"),
    "zh-hant": ("來回機票", "雙人房，每晚", "電車和公車，每天", "餐費，每天"),
    "zh-hans": ("往返机票", "双人房，每晚", "电车和公交，每天", "餐费，每天"),
}
_EXAMPLE_PRICES = {"JPY": (43_500, 16_800, 1_100, 4_000), "EUR": (260, 95, 7, 28)}


@dataclass(frozen=True)
class Trip:
    """What a question says about a trip. `currency`: of the limit; `is_currency_named`: the question names it."""

    place: str
    days: int
    people: int
    limit: int | None
    currency: str
    is_currency_named: bool


def read_trip(question: str, language: str) -> Trip | None:
    """Return the trip of a question, or null if the question names no place."""
    found = _PLACE.search(question)
    place = next((text for text in found.groups() if text), "") if found else ""
    if not place:
        return None
    limit = _LIMIT.search(question)
    currency = _CURRENCY.search(question)
    return Trip(
        place=place,
        days=min(_read_number(_DAYS, question, 4), MAX_DAYS),
        people=_read_number(_PEOPLE, question, 1),
        limit=int((limit["n"] or limit["zh"]).replace(",", "")[:10]) or None if limit else None,
        currency=currency[0] if currency else ("CNY" if language == "zh-hans" else "TWD"),
        is_currency_named=currency is not None,
    )


def _read_number(pattern: re.Pattern[str], text: str, default: int) -> int:
    found = pattern.search(text)
    word = (found["n"] or found["zh"]).lower() if found else ""
    return _NUMBERS.get(word) or (int(word) if word.isdigit() else 0) or default


def get_part(conversation: DemoConversation) -> Part | None:
    """Return the part that the model plays, by the tools that it has; null if it plays none."""
    tools = {tool.name for tool in conversation.tools}
    if {PLACE, FORECAST} <= tools:
        return "weather"
    if BUDGET in tools:
        return "finance"
    if GUIDES in tools:
        return "travel"
    return "lead" if PLAN_TASKS in tools else None


def _find_members(conversation: DemoConversation) -> dict[str, str]:
    """Return the handles of the specialists that the lead may give tasks to, by their parts. A handle may end in a number."""
    description = next((tool.description for tool in conversation.tools if tool.name == PLAN_TASKS), "")
    handles = [line["handle"] for line in SUB_AGENT_LINE.finditer(description)]
    members = {}
    for part in ("weather", "travel", "finance"):
        if handle := next((handle for handle in handles if re.fullmatch(rf"{part}(?:-\d+)?", handle)), None):
            members[part] = handle
    return members


def find_specialist_calls(conversation: DemoConversation) -> list[Call]:
    """Return the calls that come next in the part that the model plays; empty if it answers now, or plays none."""
    part = get_part(conversation)
    if part is None or (not conversation.results and find_requested_call(conversation)):
        return []
    trip = read_trip(conversation.question, conversation.language)
    names = [call.name for call, _ in conversation.results]
    result = conversation.results[-1][1] if conversation.results else ""
    match part:
        case "weather" if trip and not names:
            return [_build_call(conversation, PLACE, name=trip.place)]
        case "weather" if names == [PLACE] and (found := _COORDINATES.search(result)):
            return [_build_call(conversation, FORECAST, latitude=float(found[1]), longitude=float(found[2]))]
        case "finance" if not names and trip and _TRIP.search(conversation.question):
            return [_build_budget_call(conversation, trip, trip.currency)]
        case "finance" if names == [BUDGET] and trip and not result.startswith("|"):
            return [_build_budget_call(conversation, trip, _get_local_currency(trip))]
        case "finance" if not names:
            return _find_rate_calls(conversation)
        case "travel" if trip and not names and not _list_given_pages(conversation):
            language = "en" if conversation.language == "en" else "zh"
            return [_build_call(conversation, GUIDES, query=trip.place, language=language)]
        case "travel" if names == [GUIDES] and (page := _FOUND_PAGE.search(result)) and _has_tool(conversation, FETCH):
            return [_build_call(conversation, FETCH, url=page["url"])]
        case "lead" if trip and not names and _TRIP.search(conversation.question):
            return _build_plan(conversation, trip)
    return []


def _has_tool(conversation: DemoConversation, name: str) -> bool:
    return any(tool.name == name for tool in conversation.tools)


def _build_call(conversation: DemoConversation, tool_name: str, /, **arguments: Any) -> Call:
    return Call(next(tool for tool in conversation.tools if tool.name == tool_name), arguments)


def _get_local_currency(trip: Trip) -> str:
    return "JPY" if trip.place.lower() in _JAPAN else "EUR"


def _build_budget_call(conversation: DemoConversation, trip: Trip, currency: str) -> Call:
    """Return the call that adds up example prices. With the currency of the prices, no exchange rate is needed."""
    local, language = _get_local_currency(trip), conversation.language
    quantities = (
        trip.people,
        (trip.people + 1) // 2 * max(1, trip.days - 1),
        trip.people * trip.days,
        trip.people * trip.days,
    )
    items = [
        {"label": label, "amount": price, "currency": local, "quantity": quantity}
        for label, price, quantity in zip(_LABELS[language], _EXAMPLE_PRICES[local], quantities, strict=True)
    ]
    arguments: dict[str, Any] = {"items": items, "currency": currency, "people": trip.people}
    if trip.limit and currency == trip.currency:
        arguments["limit"] = trip.limit
    return _build_call(conversation, BUDGET, **arguments)


def _find_rate_calls(conversation: DemoConversation) -> list[Call]:
    """Return the call for the rates between the currencies that the question names, if it names two."""
    codes = list(dict.fromkeys(_CURRENCY.findall(conversation.question)))
    if len(codes) < 2 or not _has_tool(conversation, RATES):
        return []
    amount = re.search(r"\d[\d,]*(?:\.\d+)?", conversation.question)
    arguments: dict[str, Any] = {"base": codes[0], "quotes": codes[1:]}
    if amount and 0 < (number := float(amount[0].replace(",", ""))) <= 1e9:
        arguments["amount"] = number
    return [_build_call(conversation, RATES, **arguments)]


def _build_plan(conversation: DemoConversation, trip: Trip) -> list[Call]:
    """Return the call that plans a trip: a task for each member of the team, and a second one for Travel, which plans the days
    with the results of Weather and its own."""
    texts, members = _TEXTS[conversation.language], _find_members(conversation)
    facts: dict[str, Any] = {"place": trip.place, "days": trip.days, "people": trip.people}
    limit = f"{trip.limit:,}{f' {trip.currency}' if trip.is_currency_named else ''}" if trip.limit else ""
    tasks: list[dict[str, Any]] = []
    for part, handle in members.items():
        key = "finance_limit" if part == "finance" and limit else f"{part}_task"
        names = ("people", "days") if part == "finance" else ("place", "days")
        parameters = {name: facts[name] for name in names} | ({"limit": limit} if key == "finance_limit" else {})
        tasks.append(
            {"agent": handle, "description": texts[key].format(**facts, limit=limit), "parameters": parameters}
        )
    if {"weather", "travel"} <= members.keys():
        # `_find_members` returns Weather first, then Travel.
        description, parameters = texts["days_task"].format(**facts), {"days": trip.days}
        tasks.append(
            {"agent": members["travel"], "description": description, "parameters": parameters, "after": [1, 2]}
        )
    if not tasks:
        return []
    return [_build_call(conversation, PLAN_TASKS, reasoning=texts["reasoning"], tasks=tasks, requires_aggregation=True)]


def build_specialist_answer(conversation: DemoConversation) -> str:
    """Return what came of the calls of the part that the model plays; empty if it plays none or has made none of its calls."""
    part, trip = get_part(conversation), read_trip(conversation.question, conversation.language)
    names = [call.name for call, _ in conversation.results]
    texts = _TEXTS[conversation.language]
    if part == "weather" and trip and names[:1] == [PLACE]:
        return _describe_weather(texts, trip, conversation.results[-1][1])
    if part == "finance" and trip and names[:1] == [BUDGET]:
        return _describe_budget(texts, trip, [result for _, result in conversation.results])
    if part == "finance" and names == [RATES]:
        return texts["rates"].format(result=conversation.results[-1][1])
    if part == "travel" and trip and names[:1] == [GUIDES]:
        return _describe_pages(texts, trip, [result for _, result in conversation.results])
    if part == "travel" and trip and not names and (pages := _list_given_pages(conversation)):
        return _describe_days(texts, trip, conversation, pages)
    if PLAN_TASKS in names:
        return _describe_results(texts, conversation, is_trip=trip is not None)
    return ""


def _describe_weather(texts: Mapping[str, str], trip: Trip, result: str) -> str:
    found = _DRY.search(result)
    if found is None:
        return texts["weather_failed"].format(place=trip.place, result=result)
    days = _find_longest_run(found["days"])
    if not days:
        text = texts["weather_wet"].format(place=trip.place)
    else:
        text = texts["weather"].format(place=trip.place, days=days[0] if len(days) == 1 else f"{days[0]} – {days[-1]}")
    source = _SOURCE.search(result)
    return f"{text} {source[0] if source else ''}".strip()


def _find_longest_run(text: str) -> list[str]:
    """Return the longest run of days in a list of dates, the first of two that are equally long."""
    longest: list[str] = []
    run: list[str] = []
    for day in re.findall(r"\d{4}-\d\d-\d\d", text):
        is_next = bool(run) and date.fromisoformat(day) - date.fromisoformat(run[-1]) == timedelta(days=1)
        run = [*run, day] if is_next else [day]
        longest = run if len(run) > len(longest) else longest
    return longest


def _describe_budget(texts: Mapping[str, str], trip: Trip, results: Sequence[str]) -> str:
    if not results[-1].startswith("|"):
        return texts["finance_error"].format(result=results[-1])
    parts = [texts["finance"]]
    if len(results) > 1:
        local = _get_local_currency(trip)
        parts.append(texts["finance_failed"].format(currency=trip.currency, result=results[0], local=local))
    elif trip.limit and not trip.is_currency_named:
        parts.append(texts["finance_currency"].format(currency=trip.currency))
    table, _, rest = results[-1].partition("\nTotal:")
    return "\n\n".join([" ".join(parts), table, f"Total:{rest}"])


def _describe_pages(texts: Mapping[str, str], trip: Trip, results: Sequence[str]) -> str:
    pages = list(_FOUND_PAGE.finditer(results[0]))
    if not pages:
        return texts["travel_failed"].format(place=trip.place, result=results[0])
    lines = [texts["travel"].format(place=trip.place)]
    for number, page in enumerate(pages[: trip.days], 1):
        lines.append(texts["travel_day"].format(number=number, title=page["title"], url=page["url"]))
    if len(results) > 1:
        page_text = _read_page(results[1])
        lines.append("")
        lines.append(
            texts["travel_read"].format(text=page_text)
            if page_text
            else texts["travel_unread"].format(result=results[1])
        )
    return "\n".join(lines)


def _read_page(result: str) -> str:
    """Return the beginning of the text of a page that was read, or an empty text if it was not (`web_fetch`)."""
    found = re.search(r"^--- page \w+ ---\n\[.*\n(?P<text>(?:.*\n)*?)--- end of page", result, re.M)
    return " ".join(found["text"].split())[:240] if found else ""


def _list_given_pages(conversation: DemoConversation) -> list[tuple[str, str]]:
    """Return the titles and addresses of the pages that the results before this task name, each once."""
    return list(dict.fromkeys(_LINK.findall(_join_given_texts(conversation))))


def _join_given_texts(conversation: DemoConversation) -> str:
    return "\n".join(str(result.get("text", "")) for result in conversation.earlier_results)


def _describe_days(
    texts: Mapping[str, str], trip: Trip, conversation: DemoConversation, pages: Sequence[tuple[str, str]]
) -> str:
    """Return a page for each day. The days have dates, if the results before this task name the dry ones."""
    days = _list_given_days(conversation)
    lines = [texts["travel_given"]]
    for number, (title, url) in enumerate(pages[: trip.days], 1):
        if number <= len(days):
            lines.append(texts["travel_date"].format(date=days[number - 1], title=title, url=url))
        else:
            lines.append(texts["travel_day"].format(number=number, title=title, url=url))
    return "\n".join(lines)


def _list_given_days(conversation: DemoConversation) -> list[date]:
    """Return the first days, at most `MAX_DAYS`, that the results before this task name; empty if they name none."""
    found = _DAY_RUN.search(_join_given_texts(conversation))
    if found is None:
        return []
    try:
        first, last = (date.fromisoformat(found[name] or found["first"]) for name in ("first", "last"))
    except ValueError:
        return []
    return [first + timedelta(days=at) for at in range(min((last - first).days + 1, MAX_DAYS))]


def _describe_results(texts: Mapping[str, str], conversation: DemoConversation, *, is_trip: bool) -> str:
    """Return the results of a plan side by side, what is missing and what it has cost; empty if there was no plan."""
    try:
        outcome = dict(json.loads(conversation.results[-1][1]))
        done, missing = [*outcome["results"]], [*outcome["missing"]]
    except (TypeError, ValueError, KeyError):
        return ""
    parts = [texts["lead"].format(count=len(done) + len(missing))]
    parts += [f"**{result['task']}. {result['agent']}:** {result['text']}" for result in done]
    if missing:
        reasons = [texts.get(f"lead_{result['state']}", str(result["reason"]).strip()) for result in missing]
        named = [
            f"{result['task']}. {result['agent']} ({reason.rstrip('.。')})"
            for result, reason in zip(missing, reasons, strict=True)
        ]
        parts.append(
            texts["lead_missing"].format(missing=(", " if conversation.language == "en" else "、").join(named))
        )
    end = [texts["lead_cost"].format(cost=f"{float(outcome.get('cost_in_dollars', 0)):.2f}")]
    if is_trip:
        end.append(texts["lead_end"])
    return "\n\n".join([*parts, " ".join(end) if conversation.language == "en" else "".join(end)])
