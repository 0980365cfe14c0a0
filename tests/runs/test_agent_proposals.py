"""Proposals of an agent for a sentence: what a model may answer, who pays, and who may read them."""

import json

import pytest
from django.db import transaction

from actors.models import Actor
from agents.services.shipped import SHIPPED
from chats.models import Message
from common.bounded import BoundedMap
from llm import structured
from runs.kinds.agent_proposal import MAX_DESCRIPTION, MAX_NAME, MAX_PROPOSED_PROMPT, MAX_QUESTION
from runs.models import Run, Step
from runs.services import agent_proposals
from tests.api.test_rights import client_for
from tests.factories.usage import BudgetFactory
from usage.models import LLMCall, Reservation
from workspaces.models import Credential

pytestmark = pytest.mark.django_db(transaction=True)

PROPOSED = {
    "name": "Fare Watch",
    "description": "Watches fares.",
    "prompt": "You are Fare Watch.\n\n# How to work\n- Ask for the dates.",
    "questions": ["What does a flight to Kyoto cost?", "Which day is cheapest?"],
}
LONG = {"name": "n" * 500, "description": "d " * 900, "prompt": "p", "questions": ["q" * 900, " ", "b", "b", "c", "d"]}


@pytest.fixture(autouse=True)
def _forget_techniques(monkeypatch):
    monkeypatch.setattr(structured, "_techniques", BoundedMap(10_000))


def call(arguments):
    return {"calls": [{"name": "propose_agent", "arguments": arguments}]}


def script(environment, *answers):
    """Let the model give these answers in order: scripts that were added later come first."""
    for answer in reversed(answers):
        environment.model.script(**({"text": answer} if isinstance(answer, str) else answer), times=1)


def count_rows():
    """What a proposal must not create."""
    return Actor.objects.filter(is_shipped=False).count(), Message.objects.count()


def propose(environment, who="alice", sentence="Watch fares."):
    """Ask for a proposal by the API, and return it once its job has ended."""
    api, path = client_for(environment.team, who), f"workspaces/{environment.team.workspace.id}/agent-proposals"
    before = count_rows()
    started = api.ok("POST", path, {"sentence": sentence})
    assert (started["state"], started["agent"]) == ("queued", None)
    environment.engine.submit([started["id"]])
    environment.wait_until_idle(20)
    assert count_rows() == before
    return api.ok("GET", f"{path}/{started['id']}")


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("answer", [call(json.dumps(PROPOSED)), json.dumps(PROPOSED | {"other": 1})])
def test_a_model_proposes_an_agent_and_the_workspace_pays(environment, answer):
    script(environment, answer)
    proposal = propose(environment, sentence=" Watch fares.\n")
    assert (proposal["state"], proposal["agent"], proposal["error"]) == ("completed", PROPOSED, "")
    assert (proposal["provider"], proposal["model"]) == ("openai_compatible", "scripted")
    run, [asked] = Run.objects.get(), environment.model.requests
    system, sent = (turn["content"] for turn in asked.body["messages"])
    assert system == SHIPPED["prompt-writer"].content.prompt
    assert "\nWatch fares.\n<<<end of sentence" in sent
    ledger = LLMCall.objects.get()
    assert (ledger.workspace, ledger.on_behalf_of, ledger.run_id) == (run.workspace, environment.team.alice, run.id)


@pytest.mark.usefixtures("engine")
def test_lines_that_are_too_long_are_cut_and_other_fields_are_not_stored(environment):
    script(environment, call(json.dumps(LONG | {"other": "x" * 50_000, "name": "n\n<b>\u202e" + "n" * 500})))
    agent = propose(environment)["agent"]
    assert (len(agent["name"]), agent["name"][:6]) == (MAX_NAME, "n <b>n")
    assert (len(agent["description"]), len(agent["questions"][0])) == (MAX_DESCRIPTION - 1, MAX_QUESTION)
    assert agent["questions"][1:] == ["b", "c"]
    assert json.loads(Run.objects.get().answer) == agent


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    "answer",
    [
        "<html><body>Sure!</body></html>",
        call(json.dumps(PROPOSED | {"prompt": 7})),
        call(json.dumps(PROPOSED | {"questions": "Who?"})),
        call(json.dumps(PROPOSED | {"name": "\u200b\n"})),
        call(json.dumps(PROPOSED | {"prompt": "p" * (MAX_PROPOSED_PROMPT + 1)})),
        call(json.dumps([PROPOSED])),
        call("x" * 1_200_000),
        {"tokens": ['{"prompt": "', *["p" * 100_000] * 12, '"}']},
    ],
    ids=["html", "type", "questions", "blank", "long", "list", "no-json", "megabyte"],
)
def test_an_answer_that_cannot_be_used_is_refused_after_two_repairs_and_not_stored(environment, answer):
    script(environment, answer, answer, answer, call(json.dumps(PROPOSED)))
    proposal = propose(environment)
    assert (proposal["state"], proposal["error_code"], proposal["agent"]) == ("failed", "answer_invalid", None)
    assert len(environment.model.requests) == 3
    run = Run.objects.get()
    assert (run.answer, len(run.error) <= 600) == ("", True)
    assert all(len(json.dumps(step.result)) < 3_000 for step in Step.objects.all())


@pytest.mark.usefixtures("engine")
def test_an_invalid_answer_is_repaired(environment):
    script(environment, "Of course!", call(json.dumps(PROPOSED)))
    assert propose(environment)["agent"] == PROPOSED
    assert LLMCall.objects.count() == 2


@pytest.mark.usefixtures("engine")
def test_the_demo_model_proposes_by_a_pattern(environment):
    Credential.objects.all().delete()
    proposal = propose(environment, sentence="用中文回覆客人的來信")
    assert (proposal["state"], proposal["provider"], proposal["agent"]["name"]) == ("completed", "demo", "客服")
    assert "用中文回覆客人的來信。" in proposal["agent"]["prompt"]


@pytest.mark.usefixtures("engine")
def test_a_budget_that_is_used_up_refuses_a_proposal(environment):
    BudgetFactory.create(workspace=environment.team.workspace, limit_micro=None, limit_tokens=10)
    proposal = propose(environment)
    assert (proposal["state"], proposal["error_code"], proposal["agent"]) == ("failed", "budget_used_up", None)
    assert environment.model.requests == []
    assert not Reservation.objects.exists()


@pytest.mark.usefixtures("engine")
def test_a_model_that_cannot_be_used_is_named_as_the_reason(environment):
    Credential.objects.update(encrypted_key="broken")
    assert propose(environment)["error_code"] == "model_unusable"


def test_a_new_proposal_stops_the_one_before(environment):
    alice, workspace_id = environment.team.alice, environment.team.workspace.id
    first = agent_proposals.propose_agent(alice, workspace_id, sentence="One")
    second = agent_proposals.propose_agent(alice, workspace_id, sentence="Two")
    assert [Run.objects.get(pk=run.pk).state for run in (first, second)] == ["stopped", "queued"]


def test_a_proposal_is_read_only_by_who_has_asked_for_it_and_in_its_workspace(environment):
    team = environment.team
    with transaction.atomic():
        run = agent_proposals.propose_agent(team.alice, team.workspace.id, sentence="One")
        team.workspace.memberships.filter(actor=team.bob).update(role="editor")
        team.elsewhere.memberships.create(actor=team.alice, role="editor")
    path = "workspaces/{}/agent-proposals/" + str(run.id)
    for who, workspace in (("bob", team.workspace), ("charlie", team.elsewhere), ("alice", team.elsewhere)):
        answer = client_for(team, who)("GET", path.format(workspace.id))
        assert (answer.status_code, answer.json()["error"]["message"]) == (404, "There is no such proposal.")
    assert client_for(team, "alice").ok("GET", path.format(team.workspace.id))["state"] == "queued"


def test_a_run_of_another_kind_is_no_proposal(environment):
    run = environment.post("Hello").chat.runs.get()
    path = f"workspaces/{environment.team.workspace.id}/agent-proposals/{run.id}"
    assert client_for(environment.team, "alice")("GET", path).status_code == 404


@pytest.mark.parametrize("sentence", ["", " \n", "x" * 4_001, None, 3])
def test_a_sentence_that_is_empty_or_too_long_is_refused(environment, sentence):
    path = f"workspaces/{environment.team.workspace.id}/agent-proposals"
    assert client_for(environment.team, "alice")("POST", path, {"sentence": sentence}).status_code == 400
    assert not Run.objects.exists()


def test_SEC21_proposals_are_throttled_per_person(environment, settings):
    settings.RATES = settings.RATES | {"jobs": (0.01, 1)}
    path, alice = f"workspaces/{environment.team.workspace.id}/agent-proposals", client_for(environment.team, "alice")
    assert [alice("POST", path, {"sentence": "One"}).status_code for _ in range(2)] == [202, 429]
    assert Run.objects.count() == 1
