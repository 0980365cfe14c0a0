"""Where an agent's model is to be had, and who pays: the workspace's own, else the operator's, else the demo model (S4.6)."""

from typing import cast
from uuid import UUID

from django.conf import settings

from agents.llm.protocol import Endpoint, Provider
from common.compiled import Compiled
from common.secrets import Secret, unseal
from workspaces.models import Credential, Workspace

DEMO_MODEL = "demo"
TRIAL = "model-test"
"""What a key that is only tried is sealed for."""
_CREDENTIAL = Compiled(lambda workspace_id: Credential.objects.filter(workspace_id=workspace_id), UUID)


def endpoint_for(workspace: Workspace, model: str = "") -> tuple[Endpoint, str]:
    """The endpoint and the model's name for a spec that asks for `model` (empty: the default). Worker only: it opens the key.

    A spec written for another provider's model falls back to the demo's own name there, because the demo has one model.
    """
    credential = _CREDENTIAL.first(workspace.id)
    if credential is not None and credential.provider != "demo":
        return _of_credential(credential), model or credential.default_model
    system = settings.SYSTEM_MODEL
    if credential is None and system["provider"]:
        return _of_system(system), model or system["model"]
    return Endpoint(provider="demo", api_base=None, key=Secret(""), paid_by="demo"), DEMO_MODEL


def _of_credential(credential: Credential) -> Endpoint:
    owner = str(credential.workspace_id)
    sealed = credential.sealed_key
    key = unseal(sealed, owner=owner, purpose=Credential.PURPOSE) if sealed else Secret("")
    return Endpoint(
        provider=cast(Provider, credential.provider), api_base=credential.api_base or None, key=key, paid_by="workspace"
    )


def _of_system(system: dict[str, str]) -> Endpoint:
    return Endpoint(
        provider=cast(Provider, system["provider"]),
        api_base=system["api_base"] or None,
        key=Secret(system["key"]),
        paid_by="system",
    )


def merge_service() -> Endpoint | None:
    """The operator's own service that merges suggestions, asked instead of a model when there is one (S0.12)."""
    if not settings.MERGE_SERVICE["url"]:
        return None
    return Endpoint("merge_service", settings.MERGE_SERVICE["url"], Secret(settings.MERGE_SERVICE["secret"]), "system")


def endpoint_to_test(workspace_id: UUID, provider: Provider, api_base: str, sealed: str | None) -> Endpoint:
    """The endpoint as somebody described it; without a key of theirs, with the one that is set for this very address."""
    owner = str(workspace_id)
    key = unseal(sealed, owner=owner, purpose=TRIAL) if sealed else _key_that_is_set(owner, provider, api_base)
    return Endpoint(provider=provider, api_base=api_base or None, key=key, paid_by="workspace")


def _key_that_is_set(owner: str, provider: str, api_base: str) -> Secret:
    rows = Credential.objects.filter(workspace_id=owner, provider=provider, api_base=api_base).exclude(sealed_key="")
    credential = rows.first()
    return unseal(credential.sealed_key, owner=owner, purpose=Credential.PURPOSE) if credential else Secret("")
