"""The services of people's own models, and of the operator's policy for them."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext

from actors.models import Actor
from common.clock import now
from common.errors import Forbidden, Invalid
from common.model_settings import assign_model_settings
from common.operators import check_operator, get_for_operator
from common.providers import get_provider
from common.secrets import Secret
from events import audit
from events.publish import publish_list_changed
from llm.endpoints import get_policy
from llm.models import LLMPolicy, LLMProfile
from llm.protocol import Endpoint, LLMError, ModelTestResult


def check_policy(provider: str) -> None:
    """Check that the operator allows own models of this provider. Raises `Forbidden`."""
    policy = get_policy()
    if policy.requires_system_model or not policy.allows_llm_profiles:
        raise Forbidden("The operator does not allow own models here.")
    if not policy.allows_provider(provider):
        allowed = ", ".join(get_provider(name).label for name in policy.allowed_providers)
        raise Forbidden("The operator does not allow own models of this provider.", hints=[f"Allowed are: {allowed}."])


@transaction.atomic
def set_llm_profile(
    actor: Actor,
    *,
    provider: str,
    default_model: str,
    revision: int,
    api_base: str = "",
    options: Mapping[str, str] | None = None,
    key: Secret | None = None,
    context_size: int | None = None,
) -> LLMProfile:
    """Set the actor's own model. Runs that work for the actor use it from the next one on, where it is allowed.

    `revision` is 0 if none was set before. `key` null keeps the stored key if provider and `api_base` are unchanged, and deletes
    it otherwise. `context_size`: see `set_model`. Raises `Forbidden` if the operator does not allow it, `Invalid` (also
    `host_refused`), `Conflict`.
    """
    check_policy(provider)
    if provider == "demo":
        raise Invalid("The demo model is not an own model.", hints=["Delete your own model instead."])
    Actor.objects.select_for_update(no_key=True).get(pk=actor.pk)
    profile = LLMProfile.objects.filter(person=actor).first() or LLMProfile(person=actor, revision=0)
    assign_model_settings(
        profile,
        actor,
        provider=provider,
        default_model=default_model,
        revision=revision,
        api_base=api_base,
        options=options,
        key=key,
    )
    profile.context_size = context_size
    profile.tested_at = profile.failed_at = None
    profile.test_code = profile.test_message = profile.failure_code = profile.failure_message = ""
    profile.save()
    audit.record(
        actor,
        "llm_profile.set",
        object_id=profile.id,
        provider=provider,
        model=default_model,
        host=urlsplit(api_base).netloc,
    )
    publish_list_changed([actor.id], "me")
    return profile


@transaction.atomic
def delete_llm_profile(actor: Actor) -> None:
    """Delete the actor's own model and its key; nothing happens if there is none. A run that uses it sends no further request."""
    if profile := LLMProfile.objects.select_for_update().filter(person=actor).first():
        _delete_llm_profile(actor, profile)


@transaction.atomic
def delete_llm_profile_of_person(operator: Actor, profile_id: UUID) -> None:
    """Delete the own model of a person and its key, as an operator. Raises `NotFound`, `Forbidden`."""
    _delete_llm_profile(operator, get_for_operator(operator, LLMProfile, profile_id))


def _delete_llm_profile(actor: Actor, profile: LLMProfile) -> None:
    audit.record(actor, "llm_profile.deleted", object_id=profile.id, person_id=str(profile.person_id))
    publish_list_changed([profile.person_id], "me")
    profile.delete()


@transaction.atomic
def set_llm_policy(
    operator: Actor, *, allows_llm_profiles: bool, allowed_providers: Sequence[str], requires_system_model: bool
) -> LLMPolicy:
    """Set the policy of the operator for models. It takes effect with the next request to an own model; runs with other models
    keep theirs until the end of their attempt.

    Raises `Forbidden`, and `Invalid` for an unknown provider, or if a model is required that is not configured.
    """
    check_operator(operator, LLMPolicy)
    for provider in allowed_providers:
        get_provider(provider)
    if requires_system_model:
        check_system_model()
    policy = LLMPolicy.objects.create(
        allows_llm_profiles=allows_llm_profiles,
        allowed_providers=list(allowed_providers),
        requires_system_model=requires_system_model,
        set_by=operator,
    )
    audit.record(
        operator,
        "llm_policy.set",
        object_id=policy.id,
        allows_llm_profiles=allows_llm_profiles,
        allowed_providers=list(allowed_providers),
        requires_system_model=requires_system_model,
    )
    return policy


def check_system_model() -> None:
    """Check that the installation has a model of its own, which can be required. Raises `Invalid`."""
    system = settings.SYSTEM_MODEL
    if not (system["provider"] and system["models"]):
        raise Invalid(gettext("This installation has no model of its own (ATELIER_MODEL_PROVIDER)."))


def record_llm_profile_test(endpoint: Endpoint, model: str, result: ModelTestResult) -> None:
    """Store the result of a test with the person's own model, if its settings and its key are those that were tested."""
    with transaction.atomic():
        profile = LLMProfile.objects.select_for_update().filter(person=endpoint.person_id).first()
        if profile is None:
            return
        stored = (profile.provider, profile.api_base or None, profile.options, profile.default_model)
        tested = (endpoint.provider, endpoint.api_base, endpoint.options, model)
        if stored != tested or profile.decrypt_key() != endpoint.key:
            return
        failure = ("", "") if result.ok else (result.code[:40], result.message[:600])
        profile.tested_at, (profile.test_code, profile.test_message) = now(), failure
        profile.save(update_fields=["tested_at", "test_code", "test_message"])
        publish_list_changed([profile.person_id], "me")


def record_llm_profile_failure(endpoint: Endpoint, error: LLMError) -> None:
    """Store with a person's own model why a request of a run failed. Only the person reads it. Other endpoints are ignored."""
    if endpoint.person_id is None:
        return
    failure = {"failed_at": now(), "failure_code": error.code[:40], "failure_message": error.message[:600]}
    with transaction.atomic():
        if LLMProfile.objects.filter(person=endpoint.person_id).update(**failure):
            publish_list_changed([endpoint.person_id], "me")
