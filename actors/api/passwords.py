"""Asking for a new password: allauth's operation, made to say nothing of who is here."""

from typing import Any

from allauth.core import ratelimit
from allauth.headless.account.response import RequestPasswordResponse
from allauth.headless.account.views import RequestPasswordResetView
from allauth.headless.constants import Client
from allauth.headless.internal.restkit import inputs
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.urls import path
from django.utils.translation import get_language_from_request

from actors import services as actors


class AddressInput(inputs.Input):  # type: ignore[misc]  # allauth has no types
    email = inputs.EmailField()


class AskForReset(RequestPasswordResetView):  # type: ignore[misc]  # allauth has no types
    """allauth's operation to ask for a new password, without looking for the person: a worker does, and the answer
    says nothing of whether there is one, by its words or by its time (D21)."""

    input_class = AddressInput

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        email = self.input.cleaned_data["email"].lower()
        refused: HttpResponseBase | None = ratelimit.consume_or_429(request, action="reset_password", key=email)
        if refused:
            return refused
        address = settings.PUBLIC_URL or request.build_absolute_uri("/").rstrip("/")
        actors.ask_for_reset_link(email=email, address=address, language=get_language_from_request(request))
        answer: HttpResponseBase = RequestPasswordResponse(request, data={"by_mail": settings.SENDS_MAIL})
        return answer


urlpatterns = [
    path(f"{client.value}/v1/auth/password/request", AskForReset.as_api_view(client=client))
    for client in (Client.BROWSER, Client.APP)
]
