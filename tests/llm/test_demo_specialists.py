"""The demo model plays a team that plans a trip: it calls the tools, and says honestly what it could not find out."""

import json
from collections.abc import Mapping
from uuid import uuid4

import pytest

from actors.models import Actor
from agents.specs.content import Team
from agents.specs.templates import AGENT_TEMPLATES, TRAVEL_LEAD
from boards.agent_tools import PlanTasks
from boards.services.task_inputs import DATA_NOTE
from context.transcript import ChatContext, Participant, build_system_text, build_task_text
from llm.demo.model import DemoModel
from llm.demo.rules import detect_language
from llm.demo.specialists import Trip, read_trip
from llm.messages import Answer, ModelRequest, ToolCall, ToolSchema, Turn
from tools.interface import Tool
from tools.registry import registry

KYOTO = "Four days in Kyoto for six people under 120,000, dry weather if possible."
KYOTO_ZH = "六個人去京都四天，總價 120,000 以內，盡量挑不下雨的日子。"
LABEL = "I am the demo model, and I play"
PLACES = "--- places 1 ---\n1. Kyoto, Japan: latitude 35.0211, longitude 135.7538; time zone Asia/Tokyo\n--- end of places 1 ---"
FORECAST = (
    "day | weather\nDry days (less than 1 mm, chance under 30 %): 2026-12-01, 2026-12-03, 2026-12-04, 2026-12-05.\n"
    "Source: Open-Meteo (https://open-meteo.com), CC BY 4.0."
)
PAGES = """--- results 1 ---
1. Kyoto
   https://en.wikivoyage.org/wiki/Kyoto
   A city.
2. Arashiyama
   https://en.wikivoyage.org/wiki/Arashiyama
   West.
--- end of results 1 ---"""
PAGE = "--- page 1 ---\n[Kyoto](https://en.wikivoyage.org/wiki/Kyoto)\nKyoto was the capital.\n--- end of page 1 ---"
BUDGET = "| item | price |\n|---|---:|\n| Flights | 43,500 JPY |\nTotal: 115,526.74 TWD.\nLimit: 120,000 TWD; 4,473.26 are left."
UNREACHABLE = "The {} cannot be reached from this installation."
HANDLES = ("browser", "weather-2", "finance", "travel", "general")
PLAN_TASKS = PlanTasks(Team(), [Actor(handle=handle, name=handle.removesuffix("-2").title()) for handle in HANDLES])


def describe_results(*tasks: dict, cost: float = 0.0) -> str:
    """Return the result of `plan_tasks`: those of these tasks have a text, or a state and a reason."""
    numbered = [{"task": number, "description": "Do it.", **task} for number, task in enumerate(tasks, 1)]
    return json.dumps(
        {
            "note": DATA_NOTE,
            "results": [task for task in numbered if "text" in task],
            "missing": [task for task in numbered if "text" not in task],
            "cost_in_dollars": cost,
        }
    )


class Conversation:
    """A conversation with the demo model: `results` are what the tools answer, by name, one after the other."""

    def __init__(self, template: str, question: str, *, is_sub_agent: bool = True, language: str = "en") -> None:
        texts = TRAVEL_LEAD if template == "travel-lead" else AGENT_TEMPLATES[template]
        chosen = texts[language]
        agent = Participant(uuid4(), chosen.name, template, is_agent=True)
        system = (
            build_task_text(chosen.prompt, agent, "Travel lead", {}, is_by_person=False)
            if is_sub_agent
            else build_system_text(chosen.prompt, agent, ChatContext("", "", [], {}), {})
        )
        tools = [registry[name] for name in chosen.available_tools]
        self.by_name: dict[str, Tool] = {
            tool.name: tool for tool in [*tools, *[PLAN_TASKS][: template == "travel-lead"]]
        }
        self.tools = [ToolSchema(tool.name, tool.description, tool.build_schema()) for tool in self.by_name.values()]
        self.turns = [Turn("system", system), Turn("user", question)]
        self.calls: list[tuple[str, dict]] = []

    async def answer(self, results: Mapping[str, list[str]]) -> str:
        """Return the answer of the model, after all calls that it makes."""
        left = {name: list(texts) for name, texts in results.items()}
        for step in range(6):
            request = ModelRequest("demo", self.turns, tools=self.tools)
            parts = [part async for part in DemoModel(pace=0).ask(request)]
            answer = parts[-1]
            assert isinstance(answer, Answer)
            if not answer.calls:
                return answer.text
            calls = [ToolCall(f"{step}:{n}", call.name, call.arguments, index=n) for n, call in enumerate(answer.calls)]
            self.turns.append(Turn("assistant", "", calls=tuple(calls)))
            for call in calls:
                # The arguments are valid for the real tool.
                tool = self.by_name[call.name]
                assert isinstance(tool.parse_arguments(call.arguments), tool.Args)
                self.calls.append((call.name, json.loads(call.arguments)))
                self.turns.append(Turn("tool", left[call.name].pop(0), call_id=call.id))
        raise AssertionError("It calls tools without end.")


@pytest.mark.parametrize(
    ("question", "language", "trip"),
    [
        (KYOTO, "en", Trip("Kyoto", 4, 6, 120_000, "TWD", False)),
        (KYOTO_ZH, "zh-hant", Trip("京都", 4, 6, 120_000, "TWD", False)),
        ("三个人去大阪玩5天，3000元以内", "zh-hans", Trip("大阪", 5, 3, 3000, "CNY", False)),
        ("A week-end trip to New York, 2 nights, below EUR 1,500", "en", Trip("New York", 2, 1, 1500, "EUR", True)),
        ("京都明天的天氣如何？", "zh-hant", Trip("京都", 4, 1, None, "TWD", False)),
        ("How will the weather be in March, on Sunday, in Oslo?", "en", Trip("Oslo", 4, 1, None, "TWD", False)),
        ("How much are 250 USD in TWD?", "en", None),
        ("What do you think of the plan?", "en", None),
        ("Hi", "en", None),
    ],
)
def test_a_trip_is_read_from_the_question(question, language, trip):
    assert read_trip(question, language) == trip


async def test_the_weather_goes_from_the_place_to_the_coordinates_to_the_driest_days():
    weather = Conversation("weather", KYOTO)
    text = await weather.answer({"find_place": [PLACES], "get_forecast": [FORECAST]})
    assert weather.calls == [
        ("find_place", {"name": "Kyoto"}),
        ("get_forecast", {"latitude": 35.0211, "longitude": 135.7538}),
    ]
    assert text == (
        f"{LABEL} Weather. The driest days in a row in Kyoto are 2026-12-03 – 2026-12-05."
        " Source: Open-Meteo (https://open-meteo.com), CC BY 4.0."
    )


@pytest.mark.parametrize("reached", [0, 1])
async def test_without_network_the_weather_is_not_invented(reached):
    place, forecast = UNREACHABLE.format("place search"), UNREACHABLE.format("weather service")
    text = await Conversation("weather", KYOTO).answer(
        {"find_place": [PLACES if reached else place], "get_forecast": [forecast]}
    )
    failure = forecast if reached else place
    assert text == f"{LABEL} Weather. I could not look up the weather in Kyoto: {failure} So I name no weather."


async def test_finance_adds_up_example_prices_and_says_what_it_assumes():
    finance = Conversation("finance", KYOTO)
    text = await finance.answer({"build_budget": [BUDGET]})
    [(_, arguments)] = finance.calls
    assert (arguments["currency"], arguments["limit"], arguments["people"]) == ("TWD", 120_000, 6)
    assert [(item["amount"], item["quantity"]) for item in arguments["items"]] == [
        (43_500, 6),
        (16_800, 9),
        (1_100, 24),
        (4_000, 24),
    ]
    assert text.startswith(
        f"{LABEL} Finance. These prices are examples, not offers: I know none."
        " The limit has no currency, so I assumed TWD.\n\n| item | price |"
    )
    assert "Limit: 120,000 TWD; 4,473.26 are left." in text


async def test_without_rates_finance_adds_up_in_the_currency_of_the_prices():
    finance = Conversation("finance", KYOTO)
    failure = UNREACHABLE.format("exchange rate service")
    text = await finance.answer({"build_budget": [failure, BUDGET]})
    assert [arguments["currency"] for _, arguments in finance.calls] == ["TWD", "JPY"]
    assert "limit" not in finance.calls[1][1]
    assert f"I could not convert into TWD: {failure} So the sums are in JPY, and I cannot say whether" in text


async def test_finance_asks_for_rates_by_their_codes():
    finance = Conversation("finance", "How much are 250 USD in TWD?", is_sub_agent=False)
    text = await finance.answer({"get_exchange_rates": ["1 USD = 32 TWD"]})
    assert finance.calls == [("get_exchange_rates", {"base": "USD", "quotes": ["TWD"], "amount": 250.0})]
    assert text == f"{LABEL} Finance. I asked for the rates, and this is the answer: 1 USD = 32 TWD"


async def test_travel_searches_reads_a_page_and_cites_it():
    travel = Conversation("travel", KYOTO)
    text = await travel.answer({"search_guides": [PAGES], "web_fetch": [PAGE]})
    assert travel.calls == [
        ("search_guides", {"query": "Kyoto", "language": "en"}),
        ("web_fetch", {"url": "https://en.wikivoyage.org/wiki/Kyoto"}),
    ]
    assert "- Day 2: [Arashiyama](https://en.wikivoyage.org/wiki/Arashiyama)" in text
    assert "From the first page: “Kyoto was the capital.”" in text


@pytest.mark.parametrize(
    ("results", "sentence"),
    [
        ({"search_guides": [PAGES], "web_fetch": ["It is gone."]}, "I could not open the first page: It is gone."),
        (
            {"search_guides": ["Nothing was found."]},
            "I found nothing about Kyoto in the travel guide: Nothing was found.",
        ),
    ],
)
async def test_travel_says_what_it_could_not_find(results, sentence):
    assert sentence in await Conversation("travel", KYOTO).answer(results)


async def test_the_lead_plans_three_tasks_and_one_that_follows_two_and_says_what_is_missing():
    lead = Conversation("travel-lead", KYOTO, is_sub_agent=False)
    result = describe_results(
        {"agent": "Weather", "text": f"{LABEL} Weather. Go on the first."},
        {"agent": "Travel", "text": f"{LABEL} Travel. See [Kyoto](https://x.example)."},
        {"agent": "Finance", "state": "failed", "reason": "It did not answer."},
        {"agent": "Travel", "state": "skipped", "reason": "join"},
        cost=0.25,
    )
    text = await lead.answer({PLAN_TASKS.name: [result]})
    [(_, plan)] = lead.calls
    assert plan["reasoning"].startswith("The demo model splits each trip in the same way")
    assert plan["requires_aggregation"] is True
    assert [(task["agent"], task["parameters"], task.get("after", [])) for task in plan["tasks"]] == [
        ("weather-2", {"place": "Kyoto", "days": 4}, []),
        ("travel", {"place": "Kyoto", "days": 4}, []),
        ("finance", {"people": 6, "days": 4, "limit": "120,000"}, []),
        ("travel", {"days": 4}, [1, 2]),
    ]
    assert text == (
        f"{LABEL} Travel lead. Tasks of my plan: 4. A real model would weigh the results; I only put them side by side."
        "\n\n**1. Weather:** Go on the first.\n\n**2. Travel:** See [Kyoto](https://x.example)."
        "\n\n**Missing:** 3. Finance (It did not answer), 4. Travel (a task before it has brought no result)."
        " I invent nothing for it.\n\nThe tasks have cost $0.25. Nothing is booked."
    )


@pytest.mark.parametrize(
    ("question", "language"), [(KYOTO, "en"), (KYOTO_ZH, "zh-hant"), ("六个人去京都四天，总价 120,000 以内", "zh-hans")]
)
async def test_the_tasks_of_a_plan_say_what_the_question_says(question, language):
    """Each specialist reads only its task, and answers in its language."""
    lead = Conversation("travel-lead", question, is_sub_agent=False, language=language)
    await lead.answer({PLAN_TASKS.name: [describe_results({"agent": "Weather", "text": "Dry."})]})
    [(_, plan)] = lead.calls
    weather, travel, finance, days = (task["description"] for task in plan["tasks"])
    asked = read_trip(question, language)
    assert asked is not None
    assert read_trip(finance, language) == asked
    for description in (weather, travel, days):
        trip = read_trip(description, language)
        assert trip is not None
        assert (trip.place, trip.days) == (asked.place, 4)
        assert detect_language(description) == language


@pytest.mark.parametrize(
    ("weather", "days"),
    [
        ("They are 2026-12-03 – 2026-12-05.", ["2026-12-03:", "2026-12-04:", "2026-12-05:", "Day 4:"]),
        ("Only 2026-12-03.", ["2026-12-03:", "Day 2:", "Day 3:", "Day 4:"]),
        ("On 2026-99-99 – 2026-12-05.", ["Day 1:", "Day 2:", "Day 3:", "Day 4:"]),
        ("I know none.", ["Day 1:", "Day 2:", "Day 3:", "Day 4:"]),
    ],
)
async def test_travel_plans_the_days_from_the_results_that_it_was_given(weather, days):
    links = "".join(f"\n- Day {number}: [Page {number}](https://x.example/{number})" for number in range(1, 6))
    results = [
        {"task": 1, "agent": "Weather", "text": weather},
        {"task": 2, "agent": "Travel", "text": f"Call web_fetch for these pages:{links}"},
    ]
    context = json.dumps({"parameters": {"days": 4}, "note": DATA_NOTE, "results": results})
    travel = Conversation("travel", f"Plan each of the 4 days in Kyoto.\n\nContext:\n{context}")
    text = await travel.answer({})
    lines = [f"- {day} [Page {number}](https://x.example/{number})" for number, day in enumerate(days, 1)]
    assert text == f"{LABEL} Travel. Pages for each day, from the results that I was given:\n" + "\n".join(lines)


@pytest.mark.parametrize("question", ["Hi", "Thank you!", "What do you think of the plan?"])
async def test_the_lead_answers_by_itself_what_is_no_trip(question):
    lead = Conversation("travel-lead", question, is_sub_agent=False)
    assert "demo model" in await lead.answer({})
    assert lead.calls == []


@pytest.mark.parametrize("template", ["weather", "finance", "travel", "general", "travel-lead"])
@pytest.mark.parametrize(
    ("question", "language", "label"),
    [
        (KYOTO, "en", "demo model"),
        (KYOTO_ZH, "zh-hant", "示範模型"),
        ("六个人去京都四天，120,000 以内", "zh-hans", "示范模型"),
    ],
)
async def test_every_part_is_played_in_the_language_of_the_question_and_labelled(template, question, language, label):
    conversation = Conversation(template, question, language=language)
    failed = dict.fromkeys([*registry, PLAN_TASKS.name], ["It cannot be reached."] * 3)
    assert label in await conversation.answer(failed)
    if template != "general":
        assert conversation.calls


async def test_a_tool_or_an_agent_that_the_question_names_comes_first():
    travel = Conversation("travel", "Call current_time for Asia/Tokyo, then we go to Kyoto for four days")
    await travel.answer({"current_time": ["noon"]})
    assert [name for name, _ in travel.calls] == ["current_time"]
    lead = Conversation("travel-lead", "Ask Browser what to do in Kyoto for four days", is_sub_agent=False)
    failed = describe_results({"agent": "Browser", "state": "failed", "reason": "It did not answer."})
    text = await lead.answer({PLAN_TASKS.name: [failed]})
    [(_, plan)] = lead.calls
    assert plan["tasks"] == [{"agent": "browser", "description": "what to do in Kyoto for four days"}]
    assert "**Missing:** 1. Browser (It did not answer)." in text


async def test_the_lead_says_that_its_plan_was_refused():
    text = await Conversation("travel-lead", KYOTO, is_sub_agent=False).answer(
        {PLAN_TASKS.name: ["The plan was not valid."]}
    )
    assert text == "I called plan_tasks, and this is what it says: The plan was not valid."
