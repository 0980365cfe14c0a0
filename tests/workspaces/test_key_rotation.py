"""SEC18: stored keys are encrypted with the newest of `SECRET_KEYS`, so that older ones can be removed."""

from io import StringIO

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command

from common import key_rotation
from common.errors import Code, Invalid
from common.key_rotation import rotate_keys
from common.secrets import DecryptionFailed, Secret, decrypt_for, encrypt_for
from llm import services as llm
from llm.endpoints import get_endpoint
from llm.models import LLMProfile
from tests.people import make_person
from tools.credentials import decrypt_credential, encrypt_credential
from tools.models import ServerAuthorization, ToolServer
from workspaces import services as workspaces
from workspaces.models import Credential

pytestmark = pytest.mark.django_db
OLD, NEW = (Fernet.generate_key().decode() for _ in range(2))


@pytest.fixture
def stored(settings):
    """Seven workspaces, each with a key that is encrypted with the old secret key."""
    settings.SECRET_KEYS = [OLD]
    person = make_person("Dora")
    made = [workspaces.create_workspace(person, name=f"W{number}") for number in range(7)]
    for number, workspace in enumerate(made):
        workspaces.set_model(
            person,
            workspace.id,
            provider="openai",
            default_model="gpt",
            revision=0,
            key=Secret(f"sk-secret-{number}"),
        )
    settings.SECRET_KEYS = [NEW, OLD]
    return made


def keys_of(made):
    return [get_endpoint(workspace)[0].key.reveal() for workspace in made]


def rotate(**options):
    output = StringIO()
    call_command("rotate_keys", stdout=output, **options)
    return output.getvalue()


def test_after_a_rotation_the_newest_key_decrypts_all(stored, settings):
    assert "Everything opens with the newest key" in rotate(batch=3)
    settings.SECRET_KEYS = [NEW]
    assert keys_of(stored) == [f"sk-secret-{number}" for number in range(7)]
    assert set(Credential.objects.values_list("revision", flat=True)) == {1}


def test_credentials_of_servers_of_tools_are_rotated_too(stored, settings):
    settings.SECRET_KEYS = [OLD]
    server = ToolServer(workspace=stored[0], kind="mcp", name="Mail room", auth="bearer")
    server.encrypted_credential = encrypt_credential(server, Secret("tok-1234"))
    server.save()
    sealed = encrypt_for(Secret("{}"), owner=str(server.pk), purpose=ServerAuthorization.PURPOSE)
    authorization = ServerAuthorization.objects.create(server=server, authorization_server={}, encrypted_secrets=sealed)
    settings.SECRET_KEYS = [NEW, OLD]
    rotate()
    settings.SECRET_KEYS = [NEW]
    server.refresh_from_db()
    authorization.refresh_from_db()
    assert decrypt_credential(server).reveal() == "tok-1234"
    opened = decrypt_for(authorization.encrypted_secrets, owner=str(server.pk), purpose=ServerAuthorization.PURPOSE)
    assert opened.reveal() == "{}"


def test_an_interrupted_rotation_continues(stored, settings):
    rotation = rotate_keys(batch=3)
    assert next(rotation) == (3, 0)
    del rotation
    first = list(Credential.objects.order_by("pk").values_list("encrypted_key", flat=True)[:3])
    assert list(rotate_keys(batch=3)) == [(0, 0), (3, 0), (1, 0)]
    assert list(Credential.objects.order_by("pk").values_list("encrypted_key", flat=True)[:3]) == first
    settings.SECRET_KEYS = [NEW]
    assert keys_of(stored) == [f"sk-secret-{number}" for number in range(7)]


def test_a_key_that_is_set_during_the_rotation_is_not_overwritten(stored, monkeypatch):
    def set_key(sealed):
        Credential.objects.filter(encrypted_key=sealed).update(encrypted_key="set meanwhile")
        return "the old one, encrypted anew"

    monkeypatch.setattr(key_rotation, "reencrypt", set_key)
    assert list(rotate_keys()) == [(0, 0)]
    assert set(Credential.objects.values_list("encrypted_key", flat=True)) == {"set meanwhile"}


def test_an_undecryptable_key_is_reported_and_the_others_are_rotated(stored, settings):
    Credential.objects.filter(workspace=stored[2]).update(
        encrypted_key=Fernet(Fernet.generate_key()).encrypt(b"x").decode()
    )
    with pytest.raises(CommandError, match="1 keys open with none"):
        rotate()
    settings.SECRET_KEYS = [NEW]
    assert keys_of([stored[0], stored[6]]) == ["sk-secret-0", "sk-secret-6"]
    with pytest.raises(Invalid) as refused:
        keys_of([stored[2]])
    assert refused.value.code == Code.MODEL_UNUSABLE
    assert isinstance(refused.value.__cause__, DecryptionFailed)


def test_the_keys_of_peoples_own_models_are_rotated_too(stored, settings):
    settings.SECRET_KEYS = [OLD]
    llm.set_llm_profile(make_person("Erin"), provider="openai", default_model="gpt", revision=0, key=Secret("sk-own"))
    settings.SECRET_KEYS = [NEW, OLD]
    rotate()
    settings.SECRET_KEYS = [NEW]
    assert LLMProfile.objects.get().decrypt_key().reveal() == "sk-own"
