"""The model of a workspace: its key is encrypted for the workspace, write-only, and never sent to another server."""

from typing import Any

import pytest
from cryptography.fernet import Fernet

from actors import services as actors
from actors.models import Actor
from agents.models import AgentSpec
from agents.services import stored_specs
from agents.specs.content import SpecContent
from common.errors import Code, Conflict, Invalid
from common.secrets import DecryptionFailed, Secret, decrypt_for, encrypt_for, reencrypt
from events.models import AuditRecord
from events.rows import SpecOrigin
from llm.endpoints import get_endpoint
from tests.api.client import Api
from tests.factories.workspaces import CredentialFactory
from workspaces import services as workspaces
from workspaces.models import Credential
from workspaces.rows import build_model_row

CANARY = "sk-CANARY-0123456789abcdef"
pytestmark = pytest.mark.django_db


def set_model(team, **fields):
    fields = {"provider": "openai", "default_model": "gpt", "revision": 0, "key": Secret(CANARY), **fields}
    return workspaces.set_model(team.alice, team.workspace.id, **fields)


def test_SEC17_the_key_is_stored_encrypted_and_only_its_end_is_returned(team):
    row = set_model(team)
    assert CANARY not in row.encrypted_key
    assert CANARY not in build_model_row(row).model_dump_json()
    assert (row.key_last4, build_model_row(row).key_last4) == ("cdef", "cdef")
    endpoint, model = get_endpoint(team.workspace)
    assert (endpoint.key.reveal(), endpoint.paid_by, model) == (CANARY, "workspace", "gpt")
    assert CANARY not in repr(endpoint)


def test_the_end_of_a_short_key_is_not_returned_and_an_empty_key_deletes_it(team, settings):
    settings.ALLOW_PRIVATE_HOSTS = ("127.0.0.1:9999",)
    own = {"provider": "openai_compatible", "api_base": "http://127.0.0.1:9999/v1"}
    assert not build_model_row(None).has_key
    stored = build_model_row(set_model(team, key=Secret("short"), **own))
    assert (stored.key_last4, stored.has_key) == (None, True)
    kept = build_model_row(set_model(team, key=None, revision=1, **own))
    assert kept.has_key
    gone = set_model(team, key=Secret(""), revision=2, **own)
    assert (gone.encrypted_key, build_model_row(gone).has_key) == ("", False)


def test_SEC18_a_key_moved_to_another_workspace_cannot_be_decrypted(team):
    row = set_model(team)
    CredentialFactory.create(workspace=team.elsewhere, encrypted_key=row.encrypted_key)
    with pytest.raises(Invalid) as refused:
        get_endpoint(team.elsewhere)
    assert refused.value.code == Code.MODEL_UNUSABLE
    assert isinstance(refused.value.__cause__, DecryptionFailed)


@pytest.mark.parametrize("keep", [False, True])
def test_SEC18_old_secret_keys_decrypt_until_they_are_removed(settings, keep):
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.SECRET_KEYS = [old]
    sealed = encrypt_for(Secret("s"), owner="w", purpose="p")
    settings.SECRET_KEYS = [new, old]
    assert decrypt_for(sealed, owner="w", purpose="p", keep=keep).reveal() == "s"
    fresh = reencrypt(sealed)
    settings.SECRET_KEYS = [new]
    assert decrypt_for(fresh, owner="w", purpose="p", keep=keep).reveal() == "s"
    with pytest.raises(DecryptionFailed):
        decrypt_for(sealed, owner="w", purpose="p", keep=keep)
    with pytest.raises(DecryptionFailed):
        decrypt_for(fresh, owner="w", purpose="other", keep=keep)
    with pytest.raises(DecryptionFailed):
        decrypt_for(fresh, owner="v", purpose="p", keep=keep)


def test_a_key_is_kept_for_the_same_address_and_deleted_for_another(team, settings):
    settings.ALLOW_PRIVATE_HOSTS = frozenset({"127.0.0.1:9999", "127.0.0.1:8888"})
    first = set_model(team, provider="openai_compatible", api_base="http://127.0.0.1:9999/v1")
    same = set_model(team, provider="openai_compatible", api_base="http://127.0.0.1:9999/v1", key=None, revision=1)
    assert same.encrypted_key == first.encrypted_key
    moved = set_model(team, provider="openai_compatible", api_base="http://127.0.0.1:8888/v1", key=None, revision=2)
    assert (moved.encrypted_key, moved.key_last4) == ("", "")
    assert get_endpoint(team.workspace)[0].key.reveal() == ""


def test_a_stale_revision_is_refused(team):
    set_model(team)
    with pytest.raises(Conflict):
        set_model(team, default_model="other")
    assert Credential.objects.get().default_model == "gpt"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"provider": "nobody"}, Code.INVALID),
        ({"key": Secret("")}, Code.INVALID),
        ({"default_model": " "}, Code.INVALID),
        ({"api_base": "https://example.org"}, Code.INVALID),
        ({"provider": "merge_service"}, Code.INVALID),
        ({"options": {"region": "eu-central-1"}}, Code.INVALID),
        ({"provider": "bedrock"}, Code.INVALID),
        ({"provider": "azure", "options": {"api_version": "2024-10-21"}}, Code.INVALID),
        ({"provider": "azure", "api_base": "https://a.openai.azure.com"}, Code.INVALID),
        (
            {"provider": "azure", "api_base": "http://10.0.0.1", "options": {"api_version": "2024-10-21"}},
            Code.HOST_REFUSED,
        ),
        ({"provider": "openai_compatible"}, Code.INVALID),
        ({"provider": "openai_compatible", "api_base": "http://127.0.0.1:11434/v1"}, Code.HOST_REFUSED),
        ({"provider": "openai_compatible", "api_base": "http://169.254.169.254/latest"}, Code.HOST_REFUSED),
    ],
)
def test_invalid_settings_of_a_model_are_refused(team, fields, code):
    with pytest.raises(Invalid) as refusal:
        set_model(team, **fields)
    assert refusal.value.code == code
    assert not Credential.objects.exists()


def test_options_of_a_provider_are_stored_and_returned(team):
    options = {"access_key_id": "AKIAIOSFODNN7EXAMPLE", "region": "eu-central-1"}
    row = set_model(team, provider="bedrock", options=options)
    assert CANARY not in row.encrypted_key
    shown = build_model_row(row)
    assert (shown.provider, shown.options, shown.key_last4) == ("bedrock", options, "cdef")
    endpoint, _ = get_endpoint(team.workspace)
    assert (endpoint.provider, endpoint.options, endpoint.key.reveal()) == ("bedrock", options, CANARY)
    moved = set_model(team, provider="bedrock", options=options | {"region": "us-east-1"}, key=None, revision=1)
    assert (moved.options["region"], bool(moved.encrypted_key)) == ("us-east-1", True)


def test_without_a_key_the_operators_model_is_used_or_else_the_demo(team, settings):
    assert get_endpoint(team.workspace)[0].paid_by == "demo"
    settings.SYSTEM_MODEL = {"provider": "openai", "api_base": "", "key": CANARY, "models": ("gpt-system", "gpt-small")}
    endpoint, model = get_endpoint(team.workspace)
    assert (endpoint.paid_by, model) == ("system", "gpt-system")
    set_model(team, provider="demo", default_model="demo", key=None)
    assert get_endpoint(team.workspace)[0].paid_by == "demo"


@pytest.mark.parametrize("model", ["gpt-large", "gpt-system:online", "GPT-system", "gpt-system "])
def test_the_operators_key_is_used_only_for_listed_models(team, settings, model):
    settings.SYSTEM_MODEL = {"provider": "openrouter", "api_base": "", "key": CANARY, "models": ("gpt-system", "gpt-2")}
    assert get_endpoint(team.workspace, "gpt-2")[1] == "gpt-2"
    count = AgentSpec.objects.count()
    for ask in (
        lambda: get_endpoint(team.workspace, model),
        lambda: stored_specs.write_spec(
            team.robin, SpecContent(model=model), author=team.alice, origin=SpecOrigin.DRAFT, number=2
        ),
    ):
        with pytest.raises(Invalid) as refusal:
            ask()
        assert refusal.value.code == Code.MODEL_UNUSABLE
        assert "gpt-system, gpt-2" in refusal.value.hints[0]
    assert AgentSpec.objects.count() == count
    set_model(team)  # with a key of its own
    assert get_endpoint(team.workspace, model)[1] == model
    stored_specs.write_spec(team.robin, SpecContent(model=model), author=team.alice, origin=SpecOrigin.DRAFT, number=2)


def test_setting_the_model_records_the_host_in_the_audit_trail(team, settings):
    settings.ALLOW_PRIVATE_HOSTS = frozenset({"127.0.0.1:9999"})
    set_model(team, provider="openai_compatible", api_base="http://127.0.0.1:9999/v1")
    record = AuditRecord.objects.filter(action="model.set").latest("pk")
    assert record.facts["host"] == "127.0.0.1:9999"


@pytest.mark.parametrize(
    "host", ["api.\u043epenai.com", "api.openai\uff0ecom", "bücher.example", "api.openai.com\u2024evil.example"]
)
def test_a_host_with_confusable_letters_is_refused_as_model_server(team, host):
    """Members see the host to which their chats are sent, so it must not look like another one."""
    with pytest.raises(Invalid) as refused:
        set_model(team, provider="openai_compatible", api_base=f"https://{host}/v1")
    assert refused.value.code == Code.HOST_REFUSED
    assert not Credential.objects.exists()
    row = set_model(team, provider="openai_compatible", api_base="https://xn--bcher-kva.example/v1")
    assert row.api_base == "https://xn--bcher-kva.example/v1"


def test_only_operators_read_which_private_hosts_are_allowed_when_one_is_refused(team, settings):
    settings.ALLOW_PRIVATE_HOSTS = frozenset({"gpu.lan:11434", "127.0.0.1:9999"})
    alice = Api()
    alice.bearer = actors.create_token(team.alice, name="A program", days=1)[1]
    path = f"workspaces/{team.workspace.id}/model"
    body: dict[str, Any] = {"provider": "openai_compatible", "default_model": "m", "revision": 0}
    body["api_base"] = "http://127.0.0.1:8888/v1"
    hint = "The operator can allow it: ATELIER_ALLOW_PRIVATE_HOSTS=127.0.0.1:8888"
    assert alice.refused(400, "host_refused", "PUT", path, body)["hints"] == [hint]
    Actor.objects.filter(pk=team.alice.pk).update(is_staff=True)
    allowed = "Allowed now: 127.0.0.1:9999, gpu.lan:11434."
    assert alice.refused(400, "host_refused", "PUT", path, body)["hints"] == [hint, allowed]
    # A URL that no operator could allow.
    refused = alice.refused(400, "host_refused", "PUT", path, body | {"api_base": "http://me@gpu.lan:8888/v1"})
    assert allowed not in refused["hints"]
    assert not Credential.objects.exists()
