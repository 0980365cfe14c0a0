"""The admin pages of people's own models, and of the operator's policy for models."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from actors.models import Actor
from admin_kit.actions import service_action
from admin_kit.links import RelatedLink, audit_link, link_column
from admin_kit.model_admin import ReadOnlyAdmin, get_operator
from common.errors import AppError
from common.operators import may_operate
from common.providers import list_provider_choices
from llm import services
from llm.models import LLMPolicy, LLMProfile

if TYPE_CHECKING:
    PolicyModelForm = forms.ModelForm[LLMPolicy]
else:
    PolicyModelForm = forms.ModelForm


@admin.register(LLMProfile)
class LLMProfileAdmin(ReadOnlyAdmin):
    list_display = ("provider", link_column("person"), "default_model", "api_base", "key_last4", "updated_at")
    list_filter = ("provider",)
    list_select_related = ("person",)
    search_fields = ("person__name", "person__email", "default_model")
    search_id_fields = ("person_id",)
    # What the person's provider has answered may name the person's account there.
    exclude = ("encrypted_key", "test_message", "failure_message")
    related_links = (
        RelatedLink(_("Model calls"), "usage.llmcall", "on_behalf_of__id__exact", value="person_id"),
        audit_link(_("Audit of this person"), value="person_id"),
    )
    audit_prefixes = ("llm_profile",)
    actions = ("delete_profile",)
    actions_detail = ("delete_profile",)

    @service_action(
        _("Delete the model and its key"),
        _("Runs of this person use the model of the workspace until the person sets another own model."),
        icon="key_off",
        is_dangerous=True,
    )
    def delete_profile(self, profile: LLMProfile, operator: Actor) -> None:
        services.delete_llm_profile_of_person(operator, profile.id)


class PolicyForm(PolicyModelForm):
    """The form of a new policy."""

    allowed_providers = forms.MultipleChoiceField(
        label=_("providers of own models"),
        help_text=_("None chosen: all are allowed."),
        choices=[choice for choice in list_provider_choices() if choice[0] != "demo"],
        required=False,
    )

    class Meta:
        model = LLMPolicy
        fields = ("allows_llm_profiles", "allowed_providers", "requires_system_model")

    def clean(self) -> dict[str, Any]:
        fields = super().clean() or {}
        if fields.get("requires_system_model"):
            try:
                services.check_system_model()
            except AppError as refusal:
                raise forms.ValidationError(refusal.message) from refusal
        return fields


@admin.register(LLMPolicy)
class LLMPolicyAdmin(ReadOnlyAdmin):
    """The policies, the newest of which is in force. A change is a new row."""

    list_display = (
        "created_at",
        "allows_llm_profiles",
        "allowed_providers",
        "requires_system_model",
        link_column("set_by", _("set by")),
    )
    list_select_related = ("set_by",)
    audit_prefixes = ("llm_policy",)
    form = PolicyForm

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return may_operate(request.user, self.model)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return super().get_fields(request, obj) if obj else PolicyForm.Meta.fields

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        obj.pk = services.set_llm_policy(get_operator(request), **form.cleaned_data).pk
        obj.refresh_from_db()

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Write nothing to Django's own log, because the action is in the audit trail."""
