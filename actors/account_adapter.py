"""Sign-up and sign-in: allauth's form and adapter, with our fields, limits and services."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core.exceptions import ImmediateHttpResponse
from celery import current_app
from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest, JsonResponse
from django.utils.translation import get_language_from_request

from actors import services as actors
from actors.hooks import invitation_presented
from actors.middleware import build_rate_limit_response, build_sign_up_closed_response, get_web_app_url
from actors.models import Actor, Kind
from common.handles import find_free_handle
from common.text import normalize_name
from events.publish import publish_rights_changed


class SignupForm(forms.Form):
    """The fields of sign-up besides email and password."""

    name = forms.CharField(max_length=80, strip=True)
    language = forms.ChoiceField(choices=settings.LANGUAGES, required=False)
    invitation = forms.CharField(max_length=100, required=False)

    def clean(self) -> dict[str, Any] | None:
        """Refuse a sign-up without a valid invite link if the installation requires one."""
        fields = super().clean()
        token = (fields or {}).get("invitation", "")
        if settings.SIGN_UP == "invited" and not any(invitation_presented.call(token)):
            raise ImmediateHttpResponse(build_sign_up_closed_response("You need an invite link to sign up here."))
        return fields

    def signup(self, request: HttpRequest, user: Actor) -> None:
        """Do nothing. allauth requires this method, which it calls after the person is stored."""


def _build_field_error_response(code: str, field: str, message: str) -> JsonResponse:
    """Return an error of a field in the format of allauth's headless API."""
    return JsonResponse({"status": 400, "errors": [{"code": code, "param": field, "message": message}]}, status=400)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """allauth's adapter. It creates people, never agents."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return whether sign-up is not closed; the form checks the invitation."""
        return bool(settings.SIGN_UP != "closed")

    def new_user(self, request: HttpRequest) -> Actor:
        return Actor(kind=Kind.HUMAN, is_active=True)

    def save_user(self, request: HttpRequest, user: Actor, form: Any, commit: bool = True) -> Actor:
        """Fill in and save the person. A person's user name equals their handle (constraint `human_is_global_and_known`)."""
        fields = form.cleaned_data
        user.email = fields["email"].lower()
        user.name = normalize_name(fields.get("name") or "") or user.email.partition("@")[0]
        user.language = fields.get("language") or ""
        # The field is `password` in the headless API and `password1` in allauth's forms. A sign-up by a third party has neither.
        user.set_password(fields.get("password") or fields.get("password1"))
        try:
            with transaction.atomic():
                user.handle = user.username = find_free_handle(user.name, Actor.objects.filter(kind=Kind.HUMAN))
                if commit:
                    user.save()
        except IntegrityError as error:
            # The form has checked that the email is free, but a concurrent sign-up has taken it.
            message = str(self.error_messages["email_taken"])
            raise ImmediateHttpResponse(_build_field_error_response("email_taken", "email", message)) from error
        return user

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Answer too many attempts with our error instead of a form's (SEC21)."""
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError as error:
            raise ImmediateHttpResponse(build_rate_limit_response()) from error

    def set_password(self, user: Actor, password: str) -> None:
        """Set a new password, by the old password or by a link. A link that was used before is refused."""
        match = self.request.resolver_match
        by_link = match is None or not match.url_name.endswith("account-password-change")
        language = get_language_from_request(self.request)
        if not actors.set_password(user, password, by_link=by_link, language=language):
            raise ImmediateHttpResponse(
                _build_field_error_response("invalid_password_reset", "key", "This link is no good any more.")
            )

    def send_confirmation_mail(self, request: HttpRequest, emailconfirmation: Any, signup: bool) -> None:
        """Enqueue the mail, so that the request does not wait for a mail server."""
        arguments = [emailconfirmation.email_address.pk, get_web_app_url(request), get_language_from_request(request)]
        current_app.send_task("actors.tasks.send_confirmation", arguments)

    def send_account_already_exists_mail(self, email: str) -> None:
        """Enqueue a mail to the owner of the account. The response to the sign-up is the same as for a new account (SEC21)."""
        current_app.send_task(
            "actors.tasks.send_account_exists_notice", [email, get_language_from_request(self.request)]
        )

    def logout(self, request: HttpRequest) -> None:
        """Sign out, and end the sockets of this session at once (SEC5)."""
        person = request.user
        super().logout(request)
        if isinstance(person, Actor):
            publish_rights_changed(person.id)

    def populate_username(self, request: HttpRequest, user: Actor) -> None:
        """Do nothing: `save_user` sets the user name."""
