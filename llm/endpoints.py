"""Choose the endpoint of an agent's model: the workspace's own, else the operator's, else the demo model."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.conf import settings

from common.errors import Code, Invalid
from common.prepared_query import PreparedQuery
from common.secrets import Secret, decrypt_for
from llm.protocol import Endpoint
from workspaces.models import Credential, Workspace

DEMO_MODEL = "demo"
MODEL_TEST_PURPOSE = "model-test"
"""The purpose for which the key of a model test is encrypted."""
_CREDENTIAL = PreparedQuery(lambda workspace_id: Credential.objects.filter(workspace_id=workspace_id), UUID)


def get_endpoint(workspace: Workspace, model: str = "") -> tuple[Endpoint, str]:
    """Return the endpoint and the model's name for a spec with this `model` (empty: the default).

    Only workers call this, because it decrypts the key. The demo endpoint has one model, whatever the spec names. Raises
    `Invalid` (`model_unusable`) for a model that the operator does not offer.
    """
    credential = _CREDENTIAL.first(workspace.id)
    if credential is not None and credential.provider != "demo":
        return _build_credential_endpoint(credential), model or credential.default_model
    system = settings.SYSTEM_MODEL
    if credential is None and system["provider"]:
        return _build_system_endpoint(system), _require_offered(model)
    return Endpoint(provider="demo", api_base=None, key=Secret(""), paid_by="demo"), DEMO_MODEL


def check_model_offered(workspace_id: UUID, model: str) -> None:
    """Check that a spec may use this model. A workspace without a key of its own may use the models that the operator lists.
    Raises `Invalid` (`model_unusable`)."""
    if model and settings.SYSTEM_MODEL["provider"] and _CREDENTIAL.first(workspace_id) is None:
        _require_offered(model)


def _require_offered(model: str) -> str:
    """Return the name if the operator lists exactly this model; empty: the first of the list. Raises `Invalid`
    (`model_unusable`). A suffix such as `:online` would make it another, more expensive model."""
    models: tuple[str, ...] = settings.SYSTEM_MODEL["models"]
    if not model and models:
        return models[0]
    if model not in models:
        raise Invalid(
            f"The model {model or 'of the operator'} is not offered here.", code=Code.MODEL_UNUSABLE,
            hints=[f"Offered are: {', '.join(models) or 'none'}.", "With a key of its own a workspace can use any model."],
        )  # fmt: skip
    return model


def _build_credential_endpoint(credential: Credential) -> Endpoint:
    owner = str(credential.workspace_id)
    encrypted_key = credential.encrypted_key
    key = decrypt_for(encrypted_key, owner=owner, purpose=Credential.PURPOSE) if encrypted_key else Secret("")
    return Endpoint(
        provider=credential.provider,
        api_base=credential.api_base or None,
        key=key,
        paid_by="workspace",
        options=credential.options,
    )


def _build_system_endpoint(system: dict[str, Any]) -> Endpoint:
    return Endpoint(
        provider=system["provider"],
        api_base=system["api_base"] or None,
        key=Secret(system["key"]),
        paid_by="system",
        options=system.get("options", {}),
    )


def get_merge_service() -> Endpoint | None:
    """Return the operator's service that merges suggestions instead of a model, or null."""
    if not settings.MERGE_SERVICE["url"]:
        return None
    return Endpoint("merge_service", settings.MERGE_SERVICE["url"], Secret(settings.MERGE_SERVICE["secret"]), "system")


def build_test_endpoint(
    workspace_id: UUID, provider: str, api_base: str, options: Mapping[str, str], encrypted_key: str | None
) -> Endpoint:
    """Return the endpoint of a model test. Without a key, it has the key that is stored for the same address."""
    owner = str(workspace_id)
    key = (
        decrypt_for(encrypted_key, owner=owner, purpose=MODEL_TEST_PURPOSE)
        if encrypted_key
        else _get_stored_key(owner, provider, api_base)
    )
    return Endpoint(provider=provider, api_base=api_base or None, key=key, paid_by="workspace", options=options)


def _get_stored_key(owner: str, provider: str, api_base: str) -> Secret:
    rows = Credential.objects.filter(workspace_id=owner, provider=provider, api_base=api_base).exclude(encrypted_key="")
    credential = rows.first()
    return decrypt_for(credential.encrypted_key, owner=owner, purpose=Credential.PURPOSE) if credential else Secret("")
