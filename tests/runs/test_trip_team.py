"""The team of a template at work, offline: the demo model plays all of its agents, and their tools ask scripted services."""

import json

import pytest
from django.db import transaction

from agents.services import team_templates as teams
from chats.models import Message
from runs.models import Run
from tests.factories.agents import add_tool_use
from tests.public_services import run_public_services
from workspaces import services as workspaces

QUESTION = "Four days in Kyoto for six people under 120,000, dry weather if possible."


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("receiving_engine")
def test_the_team_answers_at_once_and_says_what_one_of_its_agents_could_not_find_out(environment, settings):
    alice = environment.team.alice
    with run_public_services() as services:
        settings.PUBLIC_SERVICES = services.addresses
        settings.ALLOW_PRIVATE_HOSTS |= {services.host}
        services.answers["/v2/rates"] = (503, b"{}")
        with transaction.atomic():
            workspace = workspaces.create_workspace(alice, name="Without a key")
            team = teams.create_team_from_template(alice, workspace.id, template="trip")
        environment.post(QUESTION, chat=team.chat)
        environment.wait_until_idle(60)

    lead, *others = Run.objects.filter(chat=team.chat).select_related("agent").order_by("pk")
    assert (lead.agent, lead.state) == (team.lead, "completed")
    assert [(run.agent.name, run.state, run.parent_id) for run in others] == [
        (name, "completed", lead.pk) for name in ("Weather", "Travel", "Finance")
    ]
    log = Message.objects.filter(chat=team.chat)
    assert sorted((row.payload["name"], row.payload["status"]) for row in log.filter(type="TOOL_RESPONSE")) == [
        ("build_budget", "error"),  # the exchange rates cannot be had
        ("build_budget", "ok"),
        *[("delegate", "ok")] * 3,
        ("find_place", "ok"),
        ("get_forecast", "ok"),
        ("search_guides", "ok"),
        ("web_fetch", "ok"),
    ]
    answer = log.filter(type="TEXT_MESSAGE", author=team.lead).order_by("seq").last()
    assert answer is not None
    assert answer.text.startswith("I am the demo model, and I play Travel lead. I split this into 3 tasks.")
    assert "**Weather:** The driest days in a row in Kyoto are 2026-11-29 – 2026-12-02." in answer.text
    assert "The exchange rate service is out of order (HTTP 503). So the sums are in JPY" in answer.text
    assert f"- Day 1: [Kyoto/Arashiyama]({services.url}/travel_guide/en/wiki/Kyoto/Arashiyama)" in answer.text
    assert "From the first page: “The bamboo grove is quiet before eight.”" in answer.text
    assert answer.text.endswith("Nothing is booked.")


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_FAIR8_after_a_forecast_a_call_that_writes_waits_for_a_click(environment, settings):
    """A forecast has only numbers, and is still from outside: what the agent writes afterwards rests on it."""
    environment.delete_bob_from_chat()
    robin = environment.team.robin
    for tool in ("get_forecast", "write_file"):
        add_tool_use(robin.current_spec, tool)
    forecast = {"name": "get_forecast", "arguments": json.dumps({"latitude": 35.0, "longitude": 135.75})}
    write = {"name": "write_file", "arguments": json.dumps({"name": "days.md", "text": "Dry."})}
    with run_public_services() as services:
        settings.PUBLIC_SERVICES = services.addresses
        settings.ALLOW_PRIVATE_HOSTS |= {services.host}
        environment.model.script(calls=[forecast], then={"calls": [write]})
        environment.post("Write the dry days into a file.")
        [approval] = environment.wait_until_waiting()
    assert (approval.tool, approval.reason) == ("write_file", "outside")
