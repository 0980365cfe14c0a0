"""People's own models: who pays and why, what is refused, and that no key leaves its owner."""

from itertools import product
from typing import Any

import pytest
from django.test import Client

from common.errors import AppError, Code, Conflict, Forbidden, Invalid
from common.secrets import Secret
from events.models import AuditRecord
from llm import services as llm
from llm.endpoints import choose_model, get_endpoint
from llm.models import LLMPolicy, LLMProfile
from llm.rows import build_llm_profile_row, build_model_policy_row
from tests.factories.llm import LLMPolicyFactory
from tests.people import make_operator, make_person
from workspaces import services as workspaces
from workspaces.models import Credential, Workspace

pytestmark = pytest.mark.django_db

ALICES, BOBS, WORKSPACES, OPERATORS = (
    f"sk-{name}-0123456789abcdef" for name in ("alice", "bob", "workspace", "operator")
)
SYSTEM = {"provider": "openai", "api_base": "", "key": OPERATORS, "models": ("gpt-system", "gpt-2")}


def reads_chat():
    return True


def set_profile(person, own_key=ALICES, **fields):
    fields = {"provider": "openai", "default_model": "gpt-own", "revision": 0, "key": Secret(own_key), **fields}
    return llm.set_llm_profile(person, **fields)


def allow(team, *, allows=True):
    return workspaces.set_llm_profile_policy(team.alice, team.workspace.id, allows_llm_profiles=allows)


def set_credential(team, **fields):
    fields = {"provider": "openai", "default_model": "gpt-team", "revision": 0, "key": Secret(WORKSPACES), **fields}
    workspaces.set_model(team.alice, team.workspace.id, **fields)


def send(person, method, path, body=None):
    client = Client()
    client.force_login(person)
    return client.generic(method, f"/api/v1/{path}", body or "", content_type="application/json")


# --- who pays, and why --------------------------------------------------------------------------------------------------

DEFAULTS: dict[str, Any] = {}
OFF = {"allows_llm_profiles": False}
OTHERS = {"allowed_providers": ["anthropic"]}
THIS_ONE = {"allowed_providers": ["anthropic", "openai"]}


@pytest.mark.parametrize(
    ("policy", "allowed_here", "has_profile", "model", "reason"),
    [
        (DEFAULTS, True, True, "", "llm_profile"),
        (DEFAULTS, True, True, "gpt-own", "llm_profile"),
        (DEFAULTS, True, True, "gpt-2", "other_model"),
        (DEFAULTS, True, True, "gpt-own:online", "other_model"),
        (DEFAULTS, True, False, "", "no_llm_profile"),
        (DEFAULTS, False, True, "", "llm_profiles_off_here"),
        (DEFAULTS, False, False, "", "llm_profiles_off_here"),
        (THIS_ONE, True, True, "", "llm_profile"),
        (OTHERS, True, True, "", "provider_not_allowed"),
        (OTHERS, True, False, "", "no_llm_profile"),
        (OTHERS, False, True, "", "llm_profiles_off_here"),
        (OFF, True, True, "", "llm_profiles_off"),
        (OFF, False, True, "", "llm_profiles_off"),
        (OFF, True, False, "", "llm_profiles_off"),
    ],
)
@pytest.mark.parametrize("credential", [None, "openai", "demo"])
@pytest.mark.parametrize("has_system", [True, False])
def test_who_pays_for_a_run_and_why(
    team, settings, policy, allowed_here, has_profile, model, reason, credential, has_system
):
    if has_profile:
        set_profile(team.alice)
    LLMPolicyFactory.create(**policy)
    team.workspace = allow(team, allows=allowed_here)
    if credential:
        key = Secret(WORKSPACES) if credential == "openai" else None
        set_credential(team, provider=credential, key=key)
    if has_system:
        settings.SYSTEM_MODEL = SYSTEM
    fallback = {
        (None, True): ("system", OPERATORS, model or "gpt-system"),
        (None, False): ("demo", "", "demo"),
        ("openai", True): ("workspace", WORKSPACES, model or "gpt-team"),
        ("openai", False): ("workspace", WORKSPACES, model or "gpt-team"),
        ("demo", True): ("demo", "", "demo"),
        ("demo", False): ("demo", "", "demo"),
    }[credential, has_system]
    expected = ("person", ALICES, "gpt-own") if reason == "llm_profile" else fallback
    if expected[0] == "system" and model not in ("", *SYSTEM["models"]):
        with pytest.raises(Invalid) as refusal:
            get_endpoint(team.workspace, model, team.alice, is_reader=reads_chat)
        assert refusal.value.code == Code.MODEL_UNUSABLE
        return
    endpoint, name = get_endpoint(team.workspace, model, team.alice, is_reader=reads_chat)
    assert (endpoint.paid_by, endpoint.key.reveal(), name) == expected
    assert endpoint.reason == reason
    payer = (team.alice.id, "Alice") if expected[0] == "person" else (None, "")
    assert (endpoint.person_id, endpoint.person_name) == payer


def test_a_run_for_nobody_uses_no_own_model(team):
    set_profile(team.alice)
    set_credential(team)
    choice = choose_model(allow(team))
    assert (choice.paid_by, choice.reason) == ("workspace", "no_person")


def test_a_person_whose_account_was_closed_pays_nothing(team):
    set_profile(team.bob, BOBS)
    workspace = allow(team)
    assert choose_model(workspace, person=team.bob, is_reader=reads_chat).paid_by == "person"
    type(team.bob).objects.filter(pk=team.bob.pk).update(is_active=False)
    assert choose_model(workspace, person=team.bob, is_reader=reads_chat).paid_by == "demo"


@pytest.mark.parametrize("credential", [True, False])
def test_the_model_of_the_operator_can_be_required(team, settings, credential):
    set_profile(team.alice)
    if credential:
        set_credential(team)
    workspace = allow(team)
    LLMPolicyFactory.create(requires_system_model=True)
    settings.SYSTEM_MODEL = SYSTEM
    endpoint, model = get_endpoint(workspace, "gpt-2", team.alice, is_reader=reads_chat)
    assert (endpoint.paid_by, endpoint.key.reveal(), model) == ("system", OPERATORS, "gpt-2")
    assert endpoint.reason == "system_required"
    with pytest.raises(Invalid):
        get_endpoint(workspace, "gpt-own", team.alice, is_reader=reads_chat)
    settings.SYSTEM_MODEL = SYSTEM | {"provider": ""}  # it was removed since: nothing answers, and no other key pays
    with pytest.raises(Invalid):
        get_endpoint(workspace, "", team.alice, is_reader=reads_chat)
    assert build_model_policy_row(team.alice, workspace).paid_by is None


def test_SEC24_the_key_of_another_person_is_never_used(team, settings):
    """Whatever is set and allowed: a run for a person uses this person's key or one that no person owns."""
    settings.SYSTEM_MODEL = SYSTEM
    keys = {person.id: f"sk-of-{person.handle}-0123456789" for person in (team.alice, team.bob, team.charlie)}
    workspaces.join_workspace(team.charlie, team.workspace.id, role="suggester", invited_by=team.alice)
    tried = 0
    for owners in product((True, False), repeat=3):
        LLMProfile.objects.all().delete()
        for has_profile, person in zip(owners, (team.alice, team.bob, team.charlie), strict=True):
            if has_profile:
                set_profile(person, keys[person.id])
        for allows, is_shared, model in product((True, False), (True, False), ("", "gpt-own", "gpt-2")):
            Credential.objects.all().delete()
            if is_shared:
                set_credential(team)
            workspace = allow(team, allows=allows)
            for person in (team.alice, team.bob, team.charlie, None):
                try:
                    endpoint, _ = get_endpoint(workspace, model, person, is_reader=reads_chat)
                except Invalid:
                    continue
                tried += 1
                own = keys[person.id] if person else ""
                assert endpoint.key.reveal() in {own, WORKSPACES, OPERATORS}
                assert (endpoint.person_id is not None) == (endpoint.key.reveal() == own != "")
    assert tried > 300


def test_the_newest_policy_is_in_force(team, settings):
    settings.SYSTEM_MODEL = SYSTEM
    set_profile(team.alice)
    workspace, operator = allow(team), make_operator()
    policy: dict[str, Any] = {"allows_llm_profiles": True, "allowed_providers": [], "requires_system_model": False}
    llm.set_llm_policy(operator, **policy | OFF)
    assert choose_model(workspace, person=team.alice, is_reader=reads_chat).reason == "llm_profiles_off"
    llm.set_llm_policy(operator, **policy)
    assert choose_model(workspace, person=team.alice, is_reader=reads_chat).reason == "llm_profile"
    assert AuditRecord.objects.filter(action="llm_policy.set").count() == 2


# --- keys ---------------------------------------------------------------------------------------------------------------


def test_SEC17_an_own_key_is_stored_encrypted_and_in_no_answer(team):
    profile = set_profile(team.alice)
    allow(team)
    assert ALICES not in profile.encrypted_key
    row = build_llm_profile_row(team.alice)
    assert row.model is not None
    assert (row.model.key_last4, row.model.has_key) == ("cdef", True)
    for person in (team.alice, team.bob):
        for path in (
            "me",
            "me/llm-profile",
            f"workspaces/{team.workspace.id}/model",
            f"workspaces/{team.workspace.id}/model/policy",
            f"workspaces/{team.workspace.id}/members",
        ):
            answer = send(person, "GET", path)
            assert answer.status_code == 200
            assert ALICES not in answer.text
            assert ("gpt-own" in answer.text) == (
                person == team.alice and path in ("me/llm-profile", f"workspaces/{team.workspace.id}/model/policy")
            )


def test_SEC18_an_own_key_that_is_copied_to_another_person_cannot_be_used(team):
    """It is an error, instead of a request at the expense of the workspace."""
    sealed = set_profile(team.alice).encrypted_key
    set_profile(team.bob, BOBS)
    set_credential(team)
    workspace = allow(team)
    LLMProfile.objects.filter(person=team.bob).update(encrypted_key=sealed)
    with pytest.raises(Invalid) as refusal:
        get_endpoint(workspace, "", team.bob, is_reader=reads_chat)
    assert refusal.value.code == Code.LLM_PROFILE_UNUSABLE
    assert "Bob" in refusal.value.message


def test_an_own_key_is_kept_for_the_same_address_and_deleted_for_another(team, settings):
    settings.ALLOW_PRIVATE_HOSTS = frozenset({"127.0.0.1:9999", "127.0.0.1:8888"})
    own = {"provider": "openai_compatible", "key": None}
    first = set_profile(team.alice, provider="openai_compatible", api_base="http://127.0.0.1:9999/v1")
    sealed = first.encrypted_key
    same = set_profile(team.alice, api_base="http://127.0.0.1:9999/v1", revision=1, **own)
    assert same.encrypted_key == sealed
    moved = set_profile(team.alice, api_base="http://127.0.0.1:8888/v1", revision=2, **own)
    assert (moved.encrypted_key, moved.key_last4) == ("", "")


def test_an_own_model_is_deleted_by_its_person_and_with_the_account(team):
    set_profile(team.alice)
    set_profile(team.charlie, BOBS)
    llm.delete_llm_profile(team.alice)
    llm.delete_llm_profile(team.alice)  # there is none any more
    assert list(LLMProfile.objects.values_list("person", flat=True)) == [team.charlie.pk]
    stranger = make_person("Dora")
    set_profile(stranger, BOBS)
    stranger.delete()
    assert LLMProfile.objects.count() == 1
    assert AuditRecord.objects.filter(action="llm_profile.deleted").count() == 1


# --- refusals -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"provider": "demo", "key": None}, Code.INVALID),
        ({"provider": "nobody"}, Code.INVALID),
        ({"key": Secret("")}, Code.INVALID),
        ({"key": None}, Code.INVALID),
        ({"default_model": " "}, Code.INVALID),
        ({"revision": 3}, Code.STALE_REVISION),
        ({"provider": "openai_compatible", "api_base": "http://127.0.0.1:11434/v1"}, Code.HOST_REFUSED),
        ({"provider": "openai_compatible", "api_base": "http://10.0.0.1/v1"}, Code.HOST_REFUSED),
        ({"provider": "openai_compatible", "api_base": "http://169.254.169.254/latest"}, Code.HOST_REFUSED),
    ],
)
def test_SEC12_settings_that_a_workspace_may_not_have_are_refused_for_a_person_too(team, fields, code):
    with pytest.raises(AppError) as refusal:
        set_profile(team.alice, **fields)
    assert refusal.value.code == code
    assert not LLMProfile.objects.exists()
    assert not AuditRecord.objects.filter(action="llm_profile.set").exists()


@pytest.mark.parametrize("policy", [OFF, {"requires_system_model": True}, OTHERS])
def test_what_the_operator_does_not_allow_is_neither_stored_nor_tested(team, policy):
    LLMPolicyFactory.create(**policy)
    body = '{"provider": "openai", "default_model": "gpt-own", "key": "sk-1"'
    for method, path, end in (("PUT", "me/llm-profile", ', "revision": 0}'), ("POST", "me/llm-profile/test", "}")):
        answer = send(team.alice, method, path, body + end)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
    assert not LLMProfile.objects.exists()


def test_a_stale_revision_is_refused(team):
    set_profile(team.alice)
    with pytest.raises(Conflict):
        set_profile(team.alice, default_model="other")
    assert LLMProfile.objects.get().default_model == "gpt-own"


def test_only_operators_set_the_policy_and_only_a_configured_model_can_be_required(team, settings):
    policy: dict[str, Any] = {
        "allows_llm_profiles": True,
        "allowed_providers": ["openai"],
        "requires_system_model": False,
    }
    with pytest.raises(Forbidden):
        llm.set_llm_policy(team.alice, **policy)
    for change in ({"allowed_providers": ["nobody"]}, {"requires_system_model": True}):
        with pytest.raises(Invalid):
            llm.set_llm_policy(make_operator(), **policy | change)
    assert not LLMPolicy.objects.exists()


def test_members_use_no_own_models_unless_editors_allow_it(team):
    """A member's own model receives the texts of the others, so it is not allowed at first."""
    assert not Workspace.objects.get(pk=team.workspace.pk).allows_llm_profiles
    with pytest.raises(Forbidden):
        workspaces.set_llm_profile_policy(team.bob, team.workspace.id, allows_llm_profiles=True)
    assert not Workspace.objects.get(pk=team.workspace.pk).allows_llm_profiles
    allow(team)
    allow(team)  # no second record
    assert AuditRecord.objects.filter(action="llm_profiles.allowed").count() == 1


# --- what is shown ------------------------------------------------------------------------------------------------------


def test_a_person_reads_in_which_workspaces_the_own_model_answers_and_why_not(team):
    set_profile(team.alice)
    other = workspaces.create_workspace(team.alice, name="Attic")
    allow(team)
    row = build_llm_profile_row(team.alice)
    assert [(use.name, use.workspace_id, use.reason) for use in row.workspaces] == [
        ("Attic", other.id, "llm_profiles_off_here"),
        ("Lighthouse", team.workspace.id, "llm_profile"),
    ]
    LLMPolicyFactory.create(**OFF)
    row = build_llm_profile_row(team.alice)
    assert {use.reason for use in row.workspaces} == {"llm_profiles_off"}
    assert not row.is_allowed
    assert build_llm_profile_row(team.bob).model is None


def test_the_list_of_workspaces_needs_the_same_queries_for_any_number(team, django_assert_num_queries):
    set_profile(team.alice)
    with django_assert_num_queries(3):
        build_llm_profile_row(team.alice)
    for number in range(5):
        workspaces.create_workspace(team.alice, name=f"W{number}")
    with django_assert_num_queries(3):
        build_llm_profile_row(team.alice)


def test_each_member_reads_who_pays_for_their_own_requests(team):
    set_profile(team.alice)
    set_credential(team)
    workspace = allow(team)
    rows = [build_model_policy_row(person, workspace) for person in (team.alice, team.bob)]
    assert [(row.paid_by, row.payer_reason, row.model) for row in rows] == [
        ("person", "llm_profile", "gpt-own"),
        ("workspace", "no_llm_profile", "gpt-team"),
    ]
