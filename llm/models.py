"""The own models of people, and the policy of the operator for them."""

from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from common.model_settings import ChatModelSettings
from common.models import Identified, build_display_name
from common.providers import list_provider_choices


class LLMProfile(Identified, ChatModelSettings):
    """A person's own model and key. Runs that work for the person use it where operator and workspace allow it.

    `tested_at`: the last test of these settings; `test_code` and `test_message` are empty if the model answered.
    `failed_at`: the last request of a run that failed. Only the person reads the messages.
    """

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, verbose_name=_("person"), on_delete=models.CASCADE, related_name="llm_profile"
    )
    tested_at = models.DateTimeField(_("tested at"), null=True)
    test_code = models.CharField(_("test code"), max_length=40, blank=True, default="")
    test_message = models.CharField(_("test message"), max_length=600, blank=True, default="")
    failed_at = models.DateTimeField(_("failed at"), null=True)
    failure_code = models.CharField(_("failure code"), max_length=40, blank=True, default="")
    failure_message = models.CharField(_("failure message"), max_length=600, blank=True, default="")

    class Meta:
        verbose_name = _("person's own model")
        verbose_name_plural = _("people's own models")

    def __str__(self) -> str:
        return f"{build_display_name(self, 'person')} · {self.provider}"

    @property
    def owner_id(self) -> UUID:
        person_id: UUID = self.person_id
        return person_id


class LLMPolicy(Identified):
    """The policy of the operator for models, since `created_at`. The newest row is in force; without one, the defaults are.

    `allowed_providers`: the providers that people may use for their own models; empty: all. `requires_system_model`: every run
    uses the model of the installation (`SYSTEM_MODEL`), whatever workspaces and people have set.
    """

    allows_llm_profiles = models.BooleanField(_("people may use their own models"), default=True)
    allowed_providers = ArrayField(
        models.CharField(max_length=24, choices=list_provider_choices),
        verbose_name=_("providers of own models"),
        default=list,
        blank=True,
    )
    requires_system_model = models.BooleanField(_("all runs use the model of the installation"), default=False)
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, verbose_name=_("set by"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("policy for models")
        verbose_name_plural = _("policies for models")

    def __str__(self) -> str:
        return f"{build_display_name(self, 'set_by')} · {self.created_at:%Y-%m-%d %H:%M}"

    def allows_provider(self, provider: str) -> bool:
        """Return whether people may use this provider for their own models."""
        return not self.allowed_providers or provider in self.allowed_providers
