"""Choose the model that answers, and who pays: the operator's policy, then the own model of the person whom the run works for,
then the model of the workspace, of the operator, and the demo model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self
from uuid import UUID

from django.conf import settings

from actors.models import Actor
from common.errors import Code, Invalid
from common.json_rows import build_object
from common.model_settings import ChatModelSettings
from common.secrets import DecryptionFailed, Secret, decrypt_for
from events.payloads import PaidBy, PayerReason
from llm.models import LLMPolicy, LLMProfile
from llm.prepared_queries import CREDENTIAL, LLM_PROFILE, POLICY
from llm.prices import list_known_models
from llm.protocol import Endpoint, LLMError
from workspaces.models import Credential, Workspace

DEMO_MODEL = "demo"
LLM_PROFILE_CODES = frozenset({"llm_profile_failed", "llm_profile_unusable", "llm_profile_withdrawn"})
"""The codes of runs that failed because of a person's own model."""
MODEL_TEST_PURPOSE = "model-test"
"""The purpose for which the key of a model test is encrypted."""


@dataclass(frozen=True)
class ModelChoice:
    """The model that answers, who pays, and why. `settings` is null for the model of the operator and the demo model."""

    paid_by: PaidBy
    reason: PayerReason
    model: str
    settings: ChatModelSettings | None = None
    person: Actor | None = None


class StoredSettings:
    """The stored settings that decide which model answers in a workspace for a person. Each is read when it is first needed, and
    then kept, so that runs which are claimed together can share them. `is_reader`: see `choose_model`. `rows`: those that another
    query has read (`build_settings_expression`)."""

    def __init__(
        self,
        workspace: Workspace,
        person: Actor | None,
        is_reader: Callable[[], bool],
        *,
        rows: Mapping[str, Any] | None = None,
    ) -> None:
        self._workspace = workspace
        self._person = person
        self._is_reader = is_reader
        self._rows = rows

    @classmethod
    def of_writer(cls, workspace: Workspace, person: Actor | None) -> Self:
        """Return the settings for a person who writes in a chat, and so reads it."""
        return cls(workspace, person, lambda: True)

    @cached_property
    def policy(self) -> LLMPolicy:
        """The policy of the operator."""
        if self._rows is None:
            return get_policy()
        row = self._rows["policy"]
        return build_object(LLMPolicy, row) if row else LLMPolicy()

    @cached_property
    def profile(self) -> LLMProfile | None:
        """The person's own model; null also if the operator or the workspace does not allow it."""
        may_use = self.policy.allows_llm_profiles and self._workspace.allows_llm_profiles
        return LLM_PROFILE.first(self._person.id) if self._person is not None and may_use else None

    @cached_property
    def credential(self) -> Credential | None:
        """The model of the workspace."""
        if self._rows is None:
            return CREDENTIAL.first(self._workspace.id)
        row = self._rows["credential"]
        return build_object(Credential, row) if row else None

    @cached_property
    def is_reader(self) -> bool:
        """Whether the person reads all that is sent to the model."""
        return self._is_reader()


def deny_reading() -> bool:
    """Return false: it is not known what the person reads, so their own model gets nothing."""
    return False


def build_keyless_endpoint(choice: ModelChoice) -> Endpoint:
    """Return the endpoint of a chosen model without its key, to look up its price before it is asked."""
    stored, system = choice.settings, settings.SYSTEM_MODEL
    if stored is not None:
        size = stored.context_size
        return Endpoint(stored.provider, stored.api_base or None, Secret(""), choice.paid_by, context_size=size)
    if choice.paid_by == "system":
        return Endpoint(system["provider"], system["api_base"] or None, Secret(""), "system")
    return Endpoint("demo", None, Secret(""), "demo")


def get_endpoint(
    workspace: Workspace,
    model: str = "",
    person: Actor | None = None,
    *,
    is_reader: Callable[[], bool] = deny_reading,
    stored: StoredSettings | None = None,
) -> tuple[Endpoint, str]:
    """Return the endpoint and the model's name for a spec with this `model` (empty: the default), in a run that works for this
    person. The endpoint says who pays and why. `stored`: the settings, if they are read for several runs.

    Only workers call this, because it decrypts the key. Raises `Invalid`: `model_unusable`, also for a workspace's
    key that cannot be decrypted (see `choose_model`), and `llm_profile_unusable` for such a key of a person.
    """
    choice = choose_model(workspace, model, person, is_reader=is_reader, stored=stored)
    if choice.settings is not None:
        return _build_stored_endpoint(choice, choice.settings), choice.model
    if choice.paid_by == "system":
        system = settings.SYSTEM_MODEL
        endpoint = Endpoint(
            provider=system["provider"],
            api_base=system["api_base"] or None,
            key=Secret(system["key"]),
            paid_by="system",
            options=system.get("options", {}),
            reason=choice.reason,
        )
        return endpoint, choice.model
    return Endpoint("demo", None, Secret(""), "demo", reason=choice.reason), choice.model


def choose_model(
    workspace: Workspace,
    model: str = "",
    person: Actor | None = None,
    *,
    is_reader: Callable[[], bool] = deny_reading,
    stored: StoredSettings | None = None,
) -> ModelChoice:
    """Return the model for a spec with this `model` (empty: the default) in a run that works for this person. No key is decrypted.

    A person's own model answers only for specs that name no model, or the same one: the person has agreed to pay for no other. It
    answers only if the person reads the chat of the run, because the owner of a model reads what it is sent. `is_reader` returns
    whether they do; it is called if nothing else prevents the own model, and not if `stored` is given, which has its own.

    The demo endpoint has one model, whatever the spec names. Raises `Invalid` (`model_unusable`) for a model that the operator
    does not offer.
    """
    stored = stored or StoredSettings(workspace, person, is_reader)
    if stored.policy.requires_system_model:
        return ModelChoice("system", "system_required", _require_offered(model, is_required=True))
    reason: PayerReason = "no_person"
    if person is not None:
        profile = stored.profile
        reason = explain_llm_profile(stored.policy, workspace, profile, model)
        if reason == "llm_profile" and not stored.is_reader:
            reason = "not_a_reader"
        if profile is not None and reason == "llm_profile":
            return ModelChoice("person", reason, profile.default_model, profile, person)
    credential = stored.credential
    if credential is not None and credential.provider != "demo":
        return ModelChoice("workspace", reason, model or credential.default_model, credential)
    if credential is None and settings.SYSTEM_MODEL["provider"]:
        return ModelChoice("system", reason, _require_offered(model))
    return ModelChoice("demo", reason, DEMO_MODEL)


def find_usable_model(
    workspace: Workspace,
    model: str,
    person: Actor | None,
    *,
    is_reader: Callable[[], bool] = deny_reading,
    stored: StoredSettings | None = None,
) -> str:
    """Return the model that a public agent names if it can be had in the workspace of the chat, as far as is known without asking
    the provider; otherwise the empty string, which stands for the default."""
    try:
        choice = choose_model(workspace, model, person, is_reader=is_reader, stored=stored)
    except Invalid:
        return ""
    credential = choice.settings
    if choice.paid_by != "workspace" or credential is None or model in ("", credential.default_model):
        return model
    # litellm's list contains the models of a provider, but not those of a server with an address of its own.
    is_known = not credential.api_base and model in list_known_models(credential.provider)
    return model if is_known else ""


def predict_model_choice(
    workspace: Workspace, agent: Actor, model: str, person: Actor | None, *, stored: StoredSettings | None = None
) -> ModelChoice | None:
    """Return the model that answers if the agent's spec names `model` and a message of this person wakes it; null if the run fails
    for want of a model. No key is decrypted. `stored`: the settings of the person, if they are read for several agents."""
    stored = stored or StoredSettings.of_writer(workspace, person)
    try:
        # A public agent answers with the default model if the workspace cannot use the model of its spec.
        named = find_usable_model(workspace, model, person, stored=stored) if agent.is_public else model
        return choose_model(workspace, named, person, stored=stored)
    except Invalid:
        return None


def get_policy() -> LLMPolicy:
    """Return the policy of the operator that is in force."""
    return POLICY.first() or LLMPolicy()


def explain_llm_profile(
    policy: LLMPolicy, workspace: Workspace, profile: LLMProfile | None, model: str = ""
) -> PayerReason:
    """Return why the own model of a person answers in the workspace for a spec with this `model` (`llm_profile`), or why not, in
    chats that the person reads."""
    if policy.requires_system_model:
        return "system_required"
    if not policy.allows_llm_profiles:
        return "llm_profiles_off"
    if not workspace.allows_llm_profiles:
        return "llm_profiles_off_here"
    if profile is None:
        return "no_llm_profile"
    if not policy.allows_provider(profile.provider):
        return "provider_not_allowed"
    return "llm_profile" if model in ("", profile.default_model) else "other_model"


def check_endpoint(
    endpoint: Endpoint, model: str, *, workspace_id: UUID, spec_model: str, is_reader: Callable[[], bool]
) -> None:
    """Check before a request that the person's own model may still be used (`choose_model`). Other endpoints are not checked.

    Raises `LLMError` (`llm_profile_withdrawn`) if it was changed or deleted, or is no longer allowed: a run that has begun at
    one person's expense is not continued at the expense of another.
    """
    if endpoint.person_id is None:
        return
    person = Actor.objects.filter(pk=endpoint.person_id).first()
    workspace = Workspace.objects.filter(pk=workspace_id).first()
    try:
        if workspace is not None and get_endpoint(workspace, spec_model, person, is_reader=is_reader) == (
            endpoint,
            model,
        ):
            return
    except Invalid:
        pass
    text = f"The own model of {endpoint.person_name} was changed or deleted, or is no longer allowed."
    raise LLMError("llm_profile_withdrawn", text, tries=0)


def check_model_offered(workspace_id: UUID, model: str) -> None:
    """Check that a spec may use this model. A workspace without a key of its own may use the models that the operator lists.
    Raises `Invalid` (`model_unusable`)."""
    if model and uses_system_model(CREDENTIAL.first(workspace_id)):
        _require_offered(model, is_required=get_policy().requires_system_model)


def uses_system_model(credential: Credential | None) -> bool:
    """Return whether a workspace with this credential uses the operator's model, except for people's own models."""
    return (credential is None and bool(settings.SYSTEM_MODEL["provider"])) or get_policy().requires_system_model


def _require_offered(model: str, *, is_required: bool = False) -> str:
    """Return the name if the operator lists exactly this model; empty: the first of the list. Raises `Invalid`
    (`model_unusable`). A suffix such as `:online` would make it another, more expensive model.

    `is_required`: no other model may be used, whatever key a workspace has.
    """
    system = settings.SYSTEM_MODEL
    models: tuple[str, ...] = system["models"] if system["provider"] else ()
    if not model and models:
        return models[0]
    if model not in models:
        hints = [f"Offered are: {', '.join(models) or 'none'}."]
        if not is_required:
            hints.append("With a key of its own a workspace can use any model.")
        text = f"The model {model or 'of the operator'} is not offered here."
        raise Invalid(text, code=Code.MODEL_UNUSABLE, hints=hints)
    return model


def _build_stored_endpoint(choice: ModelChoice, stored: ChatModelSettings) -> Endpoint:
    try:
        key = stored.decrypt_key()
    except DecryptionFailed as error:
        if choice.person is None:
            raise _build_key_error() from error
        raise Invalid(
            f"The key of {choice.person.name}'s own model cannot be decrypted.",
            code=Code.LLM_PROFILE_UNUSABLE,
            hints=[f"{choice.person.name} can enter it again in the settings."],
        ) from error
    return Endpoint(
        provider=stored.provider,
        api_base=stored.api_base or None,
        key=key,
        paid_by=choice.paid_by,
        options=stored.options,
        context_size=stored.context_size,
        reason=choice.reason,
        person_id=choice.person.id if choice.person else None,
        person_name=choice.person.name if choice.person else "",
    )


def _build_key_error() -> Invalid:
    return Invalid("The stored key cannot be decrypted.", code=Code.MODEL_UNUSABLE, hints=["Enter the key again."])


def get_merge_service() -> Endpoint | None:
    """Return the operator's service that merges suggestions instead of a model, or null."""
    if not settings.MERGE_SERVICE["url"]:
        return None
    return Endpoint("merge_service", settings.MERGE_SERVICE["url"], Secret(settings.MERGE_SERVICE["secret"]), "system")


def build_test_endpoint(
    owner_id: UUID,
    provider: str,
    api_base: str,
    options: Mapping[str, str],
    encrypted_key: str | None,
    *,
    person_id: UUID,
) -> Endpoint:
    """Return the endpoint of a model test by this person. The owner is a workspace, or the person whose own model is tested.

    Without a key, it has the key that is stored for the same provider and address. Raises `Invalid` (`model_unusable`) if that
    cannot be decrypted.
    """
    is_own = owner_id == person_id
    stored: ChatModelSettings | None
    if encrypted_key:
        key = decrypt_for(encrypted_key, owner=str(owner_id), purpose=MODEL_TEST_PURPOSE)
    else:
        stored = LLM_PROFILE.first(person_id) if is_own else CREDENTIAL.first(owner_id)
        is_same_server = stored is not None and (stored.provider, stored.api_base) == (provider, api_base)
        try:
            key = stored.decrypt_key() if stored is not None and is_same_server else Secret("")
        except DecryptionFailed as error:
            raise _build_key_error() from error
    return Endpoint(
        provider=provider,
        api_base=api_base or None,
        key=key,
        paid_by="person" if is_own else "workspace",
        options=options,
        person_id=person_id if is_own else None,
    )
