"""SEC18: stored keys are encrypted with the newest of `SECRET_KEYS`, so that older ones can be removed."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.apps import apps
from django.core.management import CommandError, call_command

from actors.models import Actor
from common import key_rotation
from common.errors import Code, Invalid
from common.key_rotation import rotate_keys
from common.secrets import DecryptionFailed, Secret, decrypt_for, encrypt_for
from embeddings.models import EmbeddingModel
from llm import services as llm
from llm.endpoints import get_endpoint
from llm.models import LLMProfile
from tests.factories.embeddings import EmbeddingModelFactory
from tests.people import make_agent, make_person
from tools.credentials import decrypt_credential, encrypt_credential
from tools.models import ServerAuthorization, ToolServer
from webhooks.models import Webhook
from workspaces import services as workspaces
from workspaces.models import Credential, Workspace

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


def store_tool_server(workspace):
    server = ToolServer(workspace=workspace, kind="mcp", name="Mail room", auth="bearer")
    server.encrypted_credential = encrypt_credential(server, Secret("secret"))
    server.save()
    return server


def store_authorization(workspace):
    server = store_tool_server(workspace)
    stored = encrypt_for(Secret("secret"), owner=str(server.pk), purpose=ServerAuthorization.PURPOSE)
    return ServerAuthorization.objects.create(server=server, authorization_server={}, encrypted_secrets=stored)


def read_authorization(row):
    return decrypt_for(row.encrypted_secrets, owner=str(row.server_id), purpose=ServerAuthorization.PURPOSE)


def store_webhook(workspace):
    webhook = Webhook(agent=make_agent(workspace, Actor.people.get(handle="dora"), "Ember"), url="https://example.org/")
    webhook.set_secret(Secret("secret"))
    webhook.save()
    return webhook


def store_llm_profile(workspace):
    person = Actor.people.get(handle="dora")
    return llm.set_llm_profile(person, provider="openai", default_model="gpt", revision=0, key=Secret("secret"))


def store_embedding_model(workspace):
    row = EmbeddingModelFactory.build(workspace=workspace)
    row.encrypted_key = encrypt_for(Secret("secret"), owner=str(row.owner_id), purpose=row.PURPOSE)
    row.save()
    return row


def store_workspace_model(workspace):
    person = Actor.people.get(handle="dora")
    other = workspaces.create_workspace(person, name="Other")
    return workspaces.set_model(
        person, other.id, provider="openai", default_model="gpt", revision=0, key=Secret("secret")
    )


# How to store a secret in each encrypted column, and how to read it.
COLUMNS: dict[str, tuple[Callable[[Workspace], Any], Callable[[Any], Secret]]] = {
    "workspaces.Credential.encrypted_key": (store_workspace_model, Credential.decrypt_key),
    "llm.LLMProfile.encrypted_key": (store_llm_profile, LLMProfile.decrypt_key),
    "embeddings.EmbeddingModel.encrypted_key": (store_embedding_model, EmbeddingModel.decrypt_key),
    "tools.ToolServer.encrypted_credential": (store_tool_server, decrypt_credential),
    "tools.ServerAuthorization.encrypted_secrets": (store_authorization, read_authorization),
    "webhooks.Webhook.encrypted_secret": (store_webhook, Webhook.get_secret),
}


def test_every_encrypted_column_is_tested_here():
    """A column that stores a secret has `encrypted` in its name."""
    fields = [field for table in apps.get_models() for field in table._meta.concrete_fields]
    assert {f"{field.model._meta.label}.{field.name}" for field in fields if "encrypted" in field.name} == set(COLUMNS)


@pytest.mark.parametrize("column", COLUMNS)
def test_SEC18_each_secret_can_be_read_after_the_old_key_was_removed(stored, settings, column):
    store, read = COLUMNS[column]
    settings.SECRET_KEYS = [OLD]
    row = store(stored[0])
    settings.SECRET_KEYS = [NEW, OLD]
    rotate()
    settings.SECRET_KEYS = [NEW]
    assert read(type(row).objects.get(pk=row.pk)).reveal() == "secret"


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
