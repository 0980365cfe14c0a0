"""The team of a template at work, offline: the demo model plays all of its agents, and their tools ask scripted services."""

import json
from collections.abc import Iterator

import pytest
from django.db import transaction

from agents.services.team_templates import NewTeam, create_team_from_template
from boards.models import Board, TaskResult
from chats.models import Message
from runs.models import Run
from tests.factories.agents import add_tool_use, change_spec
from tests.public_services import PublicServices, run_public_services
from tests.runs.environment import RunEnvironment
from workspaces import services as workspaces

QUESTION = "Four days in Kyoto for six people under 120,000, dry weather if possible."


@pytest.fixture
def services(settings) -> Iterator[PublicServices]:
    """The scripted services that the tools of the team ask."""
    with run_public_services() as services:
        settings.PUBLIC_SERVICES = services.addresses
        settings.ALLOW_PRIVATE_HOSTS |= {services.host}
        yield services


@pytest.fixture
def trip(environment) -> NewTeam:
    """The team in a workspace without a key."""
    alice = environment.team.alice
    with transaction.atomic():
        workspace = workspaces.create_workspace(alice, name="Without a key")
        return create_team_from_template(alice, workspace.id, template="trip")


def ask(environment: RunEnvironment, trip: NewTeam, text: str) -> str:
    """Post a message in the chat of the team, and return the answer of its lead when all runs have ended."""
    environment.post(text, chat=trip.chat)
    environment.wait_until_idle(60)
    answer = Message.objects.filter(chat=trip.chat, type="TEXT_MESSAGE", author=trip.lead).order_by("seq").last()
    assert answer is not None
    return answer.text


def list_tasks(board: Board) -> list[tuple[str, str, list[int]]]:
    return list(board.tasks.order_by("number").values_list("agent_name", "state", "after"))


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("receiving_engine")
def test_the_team_plans_a_board_and_its_lead_answers_from_the_results(environment, services, trip):
    services.answers["/v2/rates"] = (503, b"{}")
    text = ask(environment, trip, QUESTION)

    board = Board.objects.get(chat=trip.chat)
    assert (board.state, board.planned_by, board.user_input) == ("completed", "model", QUESTION)
    assert (board.aggregator, board.final_response) == (trip.lead, text)
    assert board.reasoning.startswith("The demo model splits each trip")
    assert list_tasks(board) == [
        ("Weather", "succeeded", []),
        ("Travel", "succeeded", []),
        ("Finance", "succeeded", []),
        ("Travel", "succeeded", [1, 2]),
    ]
    assert [task.parameters for task in board.tasks.order_by("number")][2] == {
        "people": 6,
        "days": 4,
        "limit": "120,000",
    }
    runs = Run.objects.filter(chat=trip.chat).order_by("pk")
    assert [(run.kind, run.state) for run in runs] == [("chat", "completed"), *[("board_task", "completed")] * 4]
    log = Message.objects.filter(chat=trip.chat)
    assert sorted((row.payload["name"], row.payload["status"]) for row in log.filter(type="TOOL_RESPONSE")) == [
        ("build_budget", "error"),  # the exchange rates cannot be had
        ("build_budget", "ok"),
        ("find_place", "ok"),
        ("get_forecast", "ok"),
        ("plan_tasks", "ok"),
        ("search_guides", "ok"),
        ("web_fetch", "ok"),
    ]
    assert text.startswith("I am the demo model, and I play Travel lead. Tasks of my plan: 4.")
    assert "**1. Weather:** The driest days in a row in Kyoto are 2026-11-29 – 2026-12-02." in text
    assert "The exchange rate service is out of order (HTTP 503). So the sums are in JPY" in text
    page = f"[Kyoto/Arashiyama]({services.url}/travel_guide/en/wiki/Kyoto/Arashiyama)"
    assert f"- Day 1: {page}" in text
    assert f"- 2026-11-29: {page}" in text, "the plan of the days has read the results before it"
    assert "From the first page: “The bamboo grove is quiet before eight.”" in text
    assert "Missing" not in text
    assert text.endswith("The tasks have cost $0.00. Nothing is booked.")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("receiving_engine")
@pytest.mark.parametrize(
    ("gone", "states", "missing"),
    [
        ("Finance", ["succeeded", "succeeded", "failed", "succeeded"], "3. Finance ({reason})"),
        (
            "Weather",
            ["failed", "succeeded", "succeeded", "skipped"],
            "1. Weather ({reason}), 4. Travel (a task before it has brought no result)",
        ),
    ],
)
def test_the_answer_says_what_is_missing_and_why(environment, services, trip, gone, states, missing):
    member = next(member for member in trip.members if member.name == gone)
    change_spec(member.current_spec, limits={"max_steps": 1})  # each of its tries fails
    text = ask(environment, trip, QUESTION)
    board = Board.objects.get(chat=trip.chat)
    assert (board.state, [state for _, state, _ in list_tasks(board)]) == ("completed", states)
    [result] = TaskResult.objects.filter(task__board=board, success=False).order_by("-pk")[:1]
    assert f"**Missing:** {missing.format(reason=(result.error or '').rstrip('.'))}. I invent nothing for it." in text
    assert f"**{gone}" not in text


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("receiving_engine")
def test_a_greeting_makes_no_board(environment, trip):
    assert ask(environment, trip, "Hi").startswith("Hello! I am Travel lead.")
    assert not Board.objects.exists()
    assert Run.objects.filter(chat=trip.chat).count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_FAIR8_after_a_forecast_a_call_that_writes_waits_for_a_click(environment, services):
    """A forecast has only numbers, and is still from outside: what the agent writes afterwards rests on it."""
    environment.delete_bob_from_chat()
    robin = environment.team.robin
    for tool in ("get_forecast", "write_file"):
        add_tool_use(robin.current_spec, tool)
    forecast = {"name": "get_forecast", "arguments": json.dumps({"latitude": 35.0, "longitude": 135.75})}
    write = {"name": "write_file", "arguments": json.dumps({"name": "days.md", "text": "Dry."})}
    environment.model.script(calls=[forecast], then={"calls": [write]})
    environment.post("Write the dry days into a file.")
    [approval] = environment.wait_until_waiting()
    assert (approval.tool, approval.reason) == ("write_file", "outside")
