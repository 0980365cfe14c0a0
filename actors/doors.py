"""The doors by which people come in: allauth's, with our manners. Their rates (`ACCOUNT_RATE_LIMITS`) are counted in Redis;
while it is away they are closed (D21)."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from kombu.exceptions import OperationalError
from redis import RedisError

from common.errors import LimitReached, Unavailable

WAIT = 60
"""Seconds after which it is worth trying again: allauth does not tell."""

Next = Callable[[HttpRequest], HttpResponseBase]


class Doors:
    """A middleware: what allauth refuses because of a rate looks like everything else that we refuse so."""

    def __init__(self, get_response: Next) -> None:
        self._next = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._next(request)
        if response.status_code == 429 and request.path.startswith("/_allauth/"):
            return too_many()
        return response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not request.path.startswith("/_allauth/") or not isinstance(error, RedisError | OperationalError):
            return None
        closed = Unavailable("Signing in is not possible right now.", hints=["Try again in a moment."])
        return JsonResponse(closed.body(), status=closed.status, headers={"Retry-After": "2"})


def too_many() -> JsonResponse:
    """The refusal of who tries too often."""
    over = LimitReached("Too many attempts.", hints=[f"Try again in {WAIT} s."], data={"seconds": WAIT})
    return JsonResponse(over.body(), status=over.status, headers={"Retry-After": str(WAIT)})
