"""The language of the admin: the user's own, else the one chosen before sign-in (a cookie), else the browser's.

Django's `LocaleMiddleware` is not used, because only the admin is translated by Django: the API is in English, and the web app
has its own texts.
"""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language_from_request, override
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from actors.services import update_profile

View = Callable[..., Any]


def get_language_of(request: HttpRequest) -> str:
    """Return the code of the language for this request, one of `settings.LANGUAGES`."""
    own = getattr(request.user, "language", "")
    return own if own in dict(settings.LANGUAGES) else get_language_from_request(request)


def in_language_of_user(view: View) -> View:
    """Return a view that calls this one, and keeps the user's language active until the page is rendered."""

    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        with override(get_language_of(request)):
            response = view(request, *args, **kwargs)
            return response.render() if hasattr(response, "render") else response

    return wrapper


@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """Save the chosen language for the user, whose web app then has it, too, and in a cookie, which is read before sign-in."""
    chosen = request.POST.get("language", "")
    person: Any = request.user
    if person.is_authenticated and chosen in dict(settings.LANGUAGES) and chosen != person.language:
        with transaction.atomic():
            update_profile(person, language=chosen)
    return set_language(request)
