"""Editors set the embedding model of a workspace; its key is write-only, and another model begins another generation."""

from typing import Any

import pytest
from django.db import connection

from common.errors import Conflict, Forbidden, Invalid, NotFound
from common.secrets import Secret
from embeddings import services as embeddings
from embeddings.models import EmbeddingModel
from embeddings.selectors import build_embedding_model_row
from embeddings.vectors import ensure_vector_column
from llm.services import set_llm_policy
from notifications.models import Notification
from tests.people import make_operator

pytestmark = pytest.mark.django_db

KEY = "sk-of-the-embedding-model"


def set_model(team, actor=None, **changes):
    settings: dict[str, Any] = {
        "provider": "openai",
        "default_model": "text-embedding-3-small",
        "revision": 0,
    } | changes
    return embeddings.set_embedding_model(actor or team.alice, team.workspace.id, **settings)


def test_an_editor_sets_and_deletes_it(team):
    assert build_embedding_model_row(team.workspace).model is None
    model = set_model(team, key=Secret(KEY))
    row = build_embedding_model_row(team.workspace)
    assert row.is_supported
    assert row.model is not None
    assert (row.model.provider, row.model.default_model, row.model.key_last4) == (
        "openai",
        "text-embedding-3-small",
        KEY[-4:],
    )
    assert KEY not in row.model_dump_json()
    assert EmbeddingModel.objects.get().decrypt_key().reveal() == KEY
    with pytest.raises(Conflict):
        set_model(team, key=Secret(KEY))
    embeddings.delete_embedding_model(team.alice, team.workspace.id)
    embeddings.delete_embedding_model(team.alice, team.workspace.id)
    assert not EmbeddingModel.objects.filter(pk=model.pk).exists()


def test_another_model_or_server_begins_another_generation_and_another_key_does_not(team):
    first = set_model(team, key=Secret(KEY))
    EmbeddingModel.objects.update(dimensions=3, failure_code="server")
    same = set_model(team, key=Secret(KEY + "2"), revision=1)
    assert (same.generation, same.dimensions, same.failure_code) == (first.generation, 3, "")
    other = set_model(team, default_model="text-embedding-3-large", revision=2)
    assert other.generation != first.generation
    assert other.dimensions is None


def test_members_are_notified_when_texts_go_to_another_server(team):
    set_model(team, key=Secret(KEY))
    set_model(team, default_model="another", revision=1)
    assert set(Notification.objects.filter(type="model_changed").values_list("person__name", flat=True)) == {"Bob"}


def test_others_may_not(team):
    for actor, error in ((team.bob, Forbidden), (team.charlie, NotFound)):
        with pytest.raises(error):
            set_model(team, actor, key=Secret(KEY))
        with pytest.raises(error):
            embeddings.delete_embedding_model(actor, team.workspace.id)
    assert not EmbeddingModel.objects.exists()


@pytest.mark.parametrize("provider", ["demo", "anthropic", "gemini"])
def test_a_provider_without_the_protocol_is_refused(team, provider):
    with pytest.raises(Invalid, match="OpenAI's protocol"):
        set_model(team, provider=provider, key=Secret(KEY))
    assert not EmbeddingModel.objects.exists()


def test_a_policy_that_requires_the_model_of_the_installation_forbids_it(team, settings):
    settings.SYSTEM_MODEL = settings.SYSTEM_MODEL | {"provider": "openai", "models": ("gpt",), "key": "k"}
    set_llm_policy(make_operator(), allows_llm_profiles=True, allowed_providers=[], requires_system_model=True)
    with pytest.raises(Forbidden):
        set_model(team, key=Secret(KEY))
    assert not EmbeddingModel.objects.exists()


def test_a_database_without_the_extension_says_what_is_missing(team):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE embeddings_messageembedding DROP COLUMN vector")
        cursor.execute("DROP EXTENSION vector")
        # Someone who may not create extensions, as in a database where it is not installed.
        cursor.execute("CREATE ROLE plain; GRANT ALL ON ALL TABLES IN SCHEMA public TO plain; SET LOCAL ROLE plain")
        with pytest.raises(Invalid, match="no extension vector") as refused:
            set_model(team, key=Secret(KEY))
        assert "CREATE EXTENSION vector" in refused.value.hints[0]
        assert not EmbeddingModel.objects.exists()
        cursor.execute("RESET ROLE")
        set_model(team, key=Secret(KEY))
        ensure_vector_column()
        cursor.execute("SELECT vector FROM embeddings_messageembedding")
