"""SEC18: stored keys are encrypted with the newest of `SECRET_KEYS`, so that older ones can be removed."""

from io import StringIO

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command

from common.secrets import Secret, WrongOwner
from llm.endpoints import get_endpoint
from tests.people import make_person
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
        workspaces.set_model(person, workspace.id, provider="openai", default_model="gpt", revision=0,
            key=Secret(f"sk-secret-{number}"),
        )  # fmt: skip
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


def test_an_interrupted_rotation_continues(stored, settings):
    rotation = workspaces.rotate_model_keys(batch=3)
    assert next(rotation) == (3, 0)
    del rotation
    first = list(Credential.objects.order_by("pk").values_list("encrypted_key", flat=True)[:3])
    assert list(workspaces.rotate_model_keys(batch=3)) == [(0, 0), (3, 0), (1, 0)]
    assert list(Credential.objects.order_by("pk").values_list("encrypted_key", flat=True)[:3]) == first
    settings.SECRET_KEYS = [NEW]
    assert keys_of(stored) == [f"sk-secret-{number}" for number in range(7)]


def test_a_key_that_is_set_during_the_rotation_is_not_overwritten(stored, monkeypatch):
    def meanwhile(sealed):
        Credential.objects.filter(encrypted_key=sealed).update(encrypted_key="set meanwhile")
        return "the old one, encrypted anew"

    monkeypatch.setattr(workspaces, "reencrypt", meanwhile)
    assert list(workspaces.rotate_model_keys()) == [(0, 0)]
    assert set(Credential.objects.values_list("encrypted_key", flat=True)) == {"set meanwhile"}


def test_an_undecryptable_key_is_reported_and_the_others_are_rotated(stored, settings):
    Credential.objects.filter(workspace=stored[2]).update(
        encrypted_key=Fernet(Fernet.generate_key()).encrypt(b"x").decode()
    )
    with pytest.raises(CommandError, match="1 keys open with none"):
        rotate()
    settings.SECRET_KEYS = [NEW]
    assert keys_of([stored[0], stored[6]]) == ["sk-secret-0", "sk-secret-6"]
    with pytest.raises(WrongOwner):
        keys_of([stored[2]])
