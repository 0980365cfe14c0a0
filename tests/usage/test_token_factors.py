"""How many tokens a model counts is learnt from what its server reports, and used for the size of the next conversations."""

from dataclasses import replace

import pytest

from common.secrets import Secret
from llm.adapters.assembly import Assembly
from llm.context_window import SHARE_WITH_FACTOR, SHARE_WITHOUT_FACTOR, get_context_budget
from llm.messages import Answer, Image, ModelRequest, Turn, Usage
from llm.prices import build_usage
from llm.protocol import Endpoint
from tests.factories.usage import TokenFactorFactory
from tests.people import make_team
from usage.models import LLMCall, TokenFactor
from usage.owners import ResolvedModel, UsageOwner
from usage.rules import read_rules, resolve_model
from usage.services import record_call

pytestmark = pytest.mark.django_db

SERVER = Endpoint("openai_compatible", "https://llm.example.org/v1", Secret(""), "workspace")


def record(team, model, tokens, estimate):
    answer = Answer("Yes.", "", (), Usage(tokens, 1, estimated_input=estimate), "stop", model.name, 0.1, 0.2)
    record_call(UsageOwner(team.workspace.id, team.alice.id), model, answer)


def resolve(team, name="m"):
    return resolve_model(SERVER, name, UsageOwner(team.workspace.id, team.alice.id), read_rules(team.workspace.id))


def test_the_factor_is_a_mean_of_requests_and_used_after_three(team):
    assert resolve(team).token_factor is None
    for tokens in (1_200, 1_400):
        record(team, resolve(team), tokens, 1_000)
    assert (resolve(team).token_factor, resolve(team).token_samples) == (None, 2)
    record(team, resolve(team), 1_300, 1_000)
    assert resolve(team).token_factor == pytest.approx(1.3)
    assert resolve(team, "other").token_factor is None


def test_each_workspace_learns_by_itself(team):
    other_team = make_team("2")
    TokenFactorFactory.create(workspace=team.workspace, provider="openai_compatible", model="m")
    assert resolve(team).token_factor == 1.2
    assert resolve(other_team).token_factor is None


def test_a_server_that_reports_nonsense_is_not_believed(team):
    for _ in range(3):
        record(team, resolve(team), 10_000_000, 1_000)
    assert resolve(team).token_factor == 4.0


def test_a_well_known_factor_is_written_by_few_requests(team):
    TokenFactorFactory.create(workspace=team.workspace, provider="openai_compatible", model="m", samples=20)
    record(team, resolve(team), 2_001, 1_000)
    assert TokenFactor.objects.get().factor == 1.2
    record(team, resolve(team), 2_000, 1_000)
    assert TokenFactor.objects.get().factor == pytest.approx(1.2 + 0.8 / 20)


def test_requests_without_an_estimate_teach_nothing(team):
    record(team, resolve(team), 2_000, None)
    assert LLMCall.objects.exists()
    assert not TokenFactor.objects.exists()


@pytest.mark.parametrize(
    ("tokens", "images", "expected"),
    [(999, (), None), (1_000, (), 1_004), (1_000, (Image("image/png", b"x"),), None)],
)
def test_only_long_requests_without_images_are_estimated(tokens, images, expected):
    request = ModelRequest("m", [Turn("user", "text" * 1_000, images=images)])
    reported = {"prompt_tokens": tokens, "completion_tokens": 1}
    assert build_usage(SERVER, request, reported, Assembly()).estimated_input == expected


def test_the_budget_of_a_conversation_is_in_tokens_of_the_estimate():
    unknown = get_context_budget(SERVER, "m", 1_000, "", [], 9_000)
    assert unknown == int(8_000 * SHARE_WITHOUT_FACTOR)
    assert get_context_budget(SERVER, "m", 1_000, "", [], 9_000, 1.6) == int(5_000 * SHARE_WITH_FACTOR)
    assert get_context_budget(SERVER, "m", 1_000, "four" * 100, [], 9_000, 0.8) == int(9_900 * SHARE_WITH_FACTOR)


def test_a_model_without_budgets_keeps_its_factor(team):
    TokenFactorFactory.create(workspace=team.workspace, provider="openai_compatible", model="m")
    model = resolve(team)
    assert model == replace(ResolvedModel(SERVER, "m"), token_factor=1.2, token_samples=3)
