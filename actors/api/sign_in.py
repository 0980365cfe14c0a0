"""allauth's operations with our error responses. No operation reveals who has an account, except sign-up without a mail server."""

from typing import Any

from allauth.core import ratelimit
from allauth.headless.account.response import RequestPasswordResponse
from allauth.headless.account.views import LoginView, RequestPasswordResetView, SignupView
from allauth.headless.internal.restkit import inputs
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import get_language_from_request

from actors import services as actors
from actors.middleware import build_error_response, build_sign_up_closed_response, get_web_app_url
from common.errors import Code, Forbidden


class EmailInput(inputs.Input):  # type: ignore[misc]  # allauth has no types
    email = inputs.EmailField()


class RequestPasswordReset(RequestPasswordResetView):  # type: ignore[misc]  # allauth has no types
    """allauth's operation to request a password reset. A worker looks for the person, so that neither the response nor its time
    reveals whether an account exists (SEC21)."""

    input_class = EmailInput

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        email = self.input.cleaned_data["email"].lower()
        limit_response: HttpResponseBase | None = ratelimit.consume_or_429(request, action="reset_password", key=email)
        if limit_response:
            return limit_response
        actors.enqueue_reset_link(
            email=email, web_app_url=get_web_app_url(request), language=get_language_from_request(request)
        )
        answer: HttpResponseBase = RequestPasswordResponse(request, data={"by_mail": settings.SENDS_MAIL})
        return answer


class SignUp(SignupView):  # type: ignore[misc]  # allauth has no types
    """allauth's sign-up, with our errors if sign-up is closed or the email has to be confirmed first."""

    def handle(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if settings.SIGN_UP == "closed":
            return build_sign_up_closed_response("Nobody can sign up here.")
        return _replace_unconfirmed_error(super().handle(request, *args, **kwargs))


class PasswordSignIn(LoginView):  # type: ignore[misc]  # allauth has no types
    """allauth's sign-in, with our error if the email is not confirmed."""

    def handle(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return _replace_unconfirmed_error(super().handle(request, *args, **kwargs))


def _replace_unconfirmed_error(response: HttpResponseBase) -> HttpResponseBase:
    """Replace allauth's 401, which here always means that the email is not confirmed, with our error (403)."""
    if response.status_code != 401:
        return response
    return build_error_response(
        Forbidden("Confirm your email first: a link is on its way.", code=Code.EMAIL_UNCONFIRMED)
    )
