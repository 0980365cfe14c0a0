"""The policy of the operator for models, and people's own models in the admin."""

import pytest

from actors.operators import Level
from actors.services import set_access_level
from common.secrets import Secret
from events.models import AuditRecord
from llm import services as llm
from llm.models import LLMPolicy, LLMProfile
from tests.admin.environment import CANARY, build_path, list_action_names, run_action, sign_in_as

SYSTEM = {"provider": "openai", "api_base": "", "key": "sk-operator", "models": ("gpt-system",)}


@pytest.fixture
def profile(environment):
    """Bob's own model."""
    return llm.set_llm_profile(
        environment.team.bob, provider="openai", default_model="gpt-own", revision=0, key=Secret(CANARY)
    )


def set_policy(client, **fields):
    return client.post(build_path(LLMPolicy, "add"), {"allows_llm_profiles": "on", **fields}, follow=True)


def test_an_operator_sets_a_policy_by_a_form_and_the_earlier_one_remains(environment):
    set_policy(environment.client)
    set_policy(environment.client, allowed_providers=["openai", "mistral"])
    first, second = LLMPolicy.objects.order_by("pk")
    assert (first.allowed_providers, second.allowed_providers) == ([], ["openai", "mistral"])
    assert (second.allows_llm_profiles, second.requires_system_model, second.set_by) == (
        True,
        False,
        environment.operator,
    )
    record = AuditRecord.objects.get(action="llm_policy.set", object_id=second.pk)
    assert str(record.pk) in environment.client.get(build_path(AuditRecord), {"q": "llm_policy.set"}).content.decode()
    assert (record.actor, record.facts["allowed_providers"]) == (environment.operator, ["openai", "mistral"])
    assert environment.client.post(build_path(LLMPolicy, first.pk, "change"), {}).status_code == 403
    assert environment.client.post(build_path(LLMPolicy, first.pk, "delete"), {"post": "yes"}).status_code == 403


def test_the_model_of_the_installation_can_be_required_only_if_there_is_one(environment, settings):
    answer = set_policy(environment.client, requires_system_model="on")
    assert "ATELIER_MODEL_PROVIDER" in answer.text
    assert not LLMPolicy.objects.exists()
    settings.SYSTEM_MODEL = SYSTEM
    set_policy(environment.client, requires_system_model="on")
    assert LLMPolicy.objects.get().requires_system_model


@pytest.mark.parametrize("level", [Level.READER, Level.NO_ACCESS])
def test_only_operators_set_a_policy_and_delete_an_own_model(environment, profile, level):
    person = environment.team.charlie
    set_access_level(environment.operator, person, level=level)
    client = sign_in_as(person)
    set_policy(client)
    run_action(client, profile, "delete_profile")
    assert not LLMPolicy.objects.exists()
    assert LLMProfile.objects.filter(pk=profile.pk).exists()


def test_an_operator_deletes_an_own_model_but_reads_neither_its_key_nor_its_errors(environment, profile):
    LLMProfile.objects.update(
        failure_code="refused", failure_message="Organisation org-OF-BOB", test_message="org-OF-BOB"
    )
    for path in (build_path(LLMProfile), build_path(LLMProfile, profile.pk, "change")):
        page = environment.client.get(path).text
        assert "gpt-own" in page
        assert not [text for text in (CANARY, profile.encrypted_key, "org-OF-BOB") if text in page]
    assert list_action_names(LLMProfile) == ["delete_profile"]
    run_action(environment.client, profile, "delete_profile")
    assert not LLMProfile.objects.exists()
    assert AuditRecord.objects.filter(action="llm_profile.deleted", actor=environment.operator).exists()
