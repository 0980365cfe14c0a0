"""What a workspace thinks with: the key is sealed for its owner, write-only, and never goes elsewhere."""

import pytest
from cryptography.fernet import Fernet

from agents.llm.endpoints import endpoint_for
from common.errors import Code, Conflict, Invalid
from common.secrets import Secret, WrongOwner, rotated, seal, unseal
from workspaces import services as workspaces
from workspaces.models import Credential
from workspaces.rows import model_row

CANARY = "sk-CANARY-0123456789abcdef"
pytestmark = pytest.mark.django_db


def set_model(team, **fields):
    fields = {"provider": "openai", "default_model": "gpt", "revision": 0, "key": Secret(CANARY), **fields}
    return workspaces.set_model(workspace=team.workspace, actor=team.alice, **fields)


def test_D17_the_key_is_stored_sealed_and_only_its_end_comes_back(team):
    row = set_model(team)
    assert CANARY not in row.sealed_key
    assert CANARY not in model_row(row).model_dump_json()
    assert (row.key_last4, model_row(row).key_last4) == ("cdef", "cdef")
    endpoint, model = endpoint_for(team.workspace)
    assert (endpoint.key.reveal(), endpoint.paid_by, model) == (CANARY, "workspace", "gpt")
    assert CANARY not in repr(endpoint)


def test_D18_a_key_moved_to_another_workspace_does_not_open(team):
    row = set_model(team)
    Credential.objects.create(
        workspace=team.elsewhere, provider="openai", default_model="gpt", sealed_key=row.sealed_key
    )
    with pytest.raises(WrongOwner):
        endpoint_for(team.elsewhere)


def test_D18_keys_rotate_and_an_old_key_still_opens_until_it_is_retired(settings):
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    settings.SECRET_KEYS = [old]
    sealed = seal(Secret("s"), owner="w", purpose="p")
    settings.SECRET_KEYS = [new, old]
    assert unseal(sealed, owner="w", purpose="p").reveal() == "s"
    fresh = rotated(sealed)
    settings.SECRET_KEYS = [new]
    assert unseal(fresh, owner="w", purpose="p").reveal() == "s"
    with pytest.raises(WrongOwner):
        unseal(sealed, owner="w", purpose="p")
    with pytest.raises(WrongOwner):
        unseal(fresh, owner="w", purpose="other")


def test_a_key_is_kept_for_the_same_provider_and_asked_again_for_another_address(team, settings):
    settings.ALLOW_PRIVATE_HOSTS = frozenset({"127.0.0.1:9999", "127.0.0.1:8888"})
    first = set_model(team, provider="openai_compatible", api_base="http://127.0.0.1:9999/v1")
    same = set_model(team, provider="openai_compatible", api_base="http://127.0.0.1:9999/v1", key=None, revision=1)
    assert same.sealed_key == first.sealed_key
    moved = set_model(team, provider="openai_compatible", api_base="http://127.0.0.1:8888/v1", key=None, revision=2)
    assert (moved.sealed_key, moved.key_last4) == ("", "")
    assert endpoint_for(team.workspace)[0].key.reveal() == ""


def test_a_stale_revision_overwrites_nothing(team):
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
        ({"provider": "openai_compatible"}, Code.INVALID),
        ({"provider": "openai_compatible", "api_base": "http://127.0.0.1:11434/v1"}, Code.HOST_REFUSED),
        ({"provider": "openai_compatible", "api_base": "http://169.254.169.254/latest"}, Code.HOST_REFUSED),
    ],
)
def test_what_cannot_be_a_model_is_refused(team, fields, code):
    with pytest.raises(Invalid) as refusal:
        set_model(team, **fields)
    assert refusal.value.code == code
    assert not Credential.objects.exists()


def test_S4_6_without_a_key_the_operators_model_answers_and_else_the_demo(team, settings):
    assert endpoint_for(team.workspace)[0].paid_by == "demo"
    settings.SYSTEM_MODEL = {"provider": "openai", "api_base": "", "key": CANARY, "model": "gpt-system"}
    endpoint, model = endpoint_for(team.workspace)
    assert (endpoint.paid_by, model) == ("system", "gpt-system")
    set_model(team, provider="demo", default_model="demo", key=None)
    assert endpoint_for(team.workspace)[0].paid_by == "demo"
