"""Which language the admin speaks: a person's own, else what they chose before they signed in, else their browser's.

Only its pages: the rest of the server speaks English, and the web app translates by itself. So no middleware asks this of
every request.
"""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language_from_request, override
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from actors.services import change_profile

View = Callable[..., Any]


def language_of(request: HttpRequest) -> str:
    """One of `settings.LANGUAGES`."""
    own = getattr(request.user, "language", "")
    return own if own in dict(settings.LANGUAGES) else get_language_from_request(request)


def in_their_language(view: View) -> View:
    """The view, with its page rendered while the language is set."""

    def spoken(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        with override(language_of(request)):
            answer = view(request, *args, **kwargs)
            return answer.render() if hasattr(answer, "render") else answer

    return spoken


@require_POST
def choose_language(request: HttpRequest) -> HttpResponse:
    """Keep what was chosen: with the person (it is the web app's language, too), or in this browser before they sign in."""
    chosen = request.POST.get("language", "")
    person: Any = request.user
    if person.is_authenticated and chosen in dict(settings.LANGUAGES) and chosen != person.language:
        with transaction.atomic():
            change_profile(person=person, language=chosen)
    return set_language(request)
