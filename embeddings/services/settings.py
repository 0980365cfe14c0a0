"""The embedding model of a workspace."""

from collections.abc import Mapping
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext

from actors.models import Actor
from common.clock import now
from common.errors import Conflict, Forbidden, Invalid
from common.ids import new_id
from common.model_settings import assign_model_settings
from common.operators import check_operator
from common.providers import EMBEDDING_PROVIDERS, PROVIDERS, get_provider
from common.secrets import Secret
from embeddings.hooks import embedding_server_changed
from embeddings.models import BATCH_SIZE, EmbeddedChat, EmbeddingModel
from embeddings.vectors import ensure_vector_column
from events import audit
from events.publish import publish_workspace_list_changed
from llm.endpoints import get_policy
from llm.protocol import Endpoint
from workspaces.permissions import WorkspaceVerb, get_workspace_for


def build_endpoint(model: EmbeddingModel) -> Endpoint:
    """Return the endpoint of an embedding model. Only workers call this, because it decrypts the key. Raises `Forbidden` if the
    operator allows no other models than those of the installation."""
    _check_policy()
    return Endpoint(
        provider=model.provider,
        api_base=model.api_base or None,
        key=model.decrypt_key(),
        paid_by="workspace",
        options=model.options,
    )


def _check_policy() -> None:
    if get_policy().requires_system_model:
        raise Forbidden("The operator allows no other models than those of the installation.")


@transaction.atomic
def set_embedding_model(
    actor: Actor,
    workspace_id: UUID,
    *,
    provider: str,
    default_model: str,
    revision: int,
    api_base: str = "",
    options: Mapping[str, str] | None = None,
    key: Secret | None = None,
) -> EmbeddingModel:
    """Set the model that computes the embeddings of messages in long chats. With another model, they are computed again.

    `revision` is that of the settings that are replaced, 0 if there are none. `key` null keeps the stored key if provider and
    `api_base` are unchanged, and deletes it otherwise. If texts go to another provider or host from now on, the hook
    `embedding_server_changed` is called.

    Raises `NotFound`, `Forbidden`, `Conflict`, and `Invalid` (also `host_refused`), for example if the database has no extension
    `vector`, or if the provider has no embeddings.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_MODEL, lock=True)
    if get_provider(provider).name not in EMBEDDING_PROVIDERS:
        labels = [one.label for one in PROVIDERS.values() if one.name in EMBEDDING_PROVIDERS]
        raise Invalid(
            "Embeddings are requested by OpenAI's protocol, which this provider does not have.",
            hints=[f"Providers that have it: {', '.join(labels)}."],
        )
    _check_policy()
    ensure_vector_column()
    model = EmbeddingModel.objects.select_for_update().filter(workspace=workspace).first()
    model = model or EmbeddingModel(workspace=workspace, revision=0)
    before = (model.provider, model.api_base, model.default_model)
    is_other_host = assign_model_settings(
        model,
        actor,
        provider=provider,
        default_model=default_model,
        revision=revision,
        api_base=api_base,
        options=options,
        key=key,
    )
    if before != (model.provider, model.api_base, model.default_model):
        model.generation, model.dimensions, model.batch_size = new_id(), None, BATCH_SIZE
    model.failed_at, model.failure_code, model.failure_message = None, "", ""
    model.save()
    EmbeddedChat.objects.filter(chat__workspace=workspace).update(due_at=now(), failures=0)
    audit.record(
        actor,
        "embedding_model.set",
        workspace_id=workspace.id,
        object_id=model.id,
        provider=provider,
        model=default_model,
        host=urlsplit(api_base).netloc,
    )
    if is_other_host:
        embedding_server_changed.call(model, actor)
    publish_workspace_list_changed(workspace.id, "context")
    return model


@transaction.atomic
def delete_embedding_model(actor: Actor, workspace_id: UUID) -> None:
    """Delete the embedding model of a workspace with its key; nothing happens if there is none. The embeddings are deleted by a
    task. Raises `NotFound`, `Forbidden`."""
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_MODEL, lock=True)
    if model := EmbeddingModel.objects.select_for_update().filter(workspace=workspace).first():
        audit.record(actor, "embedding_model.deleted", workspace_id=workspace.id, object_id=model.id)
        model.delete()
        EmbeddedChat.objects.filter(chat__workspace=workspace).update(due_at=now(), failures=0)
        publish_workspace_list_changed(workspace.id, "context")


@transaction.atomic
def delete_embedding_key(operator: Actor, model_id: UUID) -> EmbeddingModel:
    """Delete the stored key of an embedding model, as an operator. Raises `Forbidden`, and `Conflict` if there is no key."""
    check_operator(operator, EmbeddingModel)
    model = EmbeddingModel.objects.select_for_update().filter(pk=model_id).exclude(encrypted_key="").first()
    if model is None:
        raise Conflict(gettext("There is no key."))
    model.encrypted_key, model.key_last4 = "", ""
    model.revision += 1
    model.save()
    audit.record(operator, "embedding_model.key_deleted", workspace_id=model.workspace_id, object_id=model.id)
    publish_workspace_list_changed(model.workspace_id, "context")
    return model
