"""The middleware for allauth's operations, and the error responses of signing in and signing up.

allauth counts its rates (`ACCOUNT_RATE_LIMITS`) in Redis. While Redis is down, its operations are refused (SEC21).
"""

import json
import re
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from kombu.exceptions import OperationalError
from redis import RedisError
from rest_framework.permissions import SAFE_METHODS

from actors.auth import build_viewing_error, find_viewing
from actors.rates import get_anonymous_bucket, throttle
from common.errors import AppError, Code, Forbidden, Invalid, LimitReached, Unavailable

RETRY_AFTER_SECONDS = 60
"""Seconds after which a client may retry. allauth does not return its own number."""

Next = Callable[[HttpRequest], HttpResponseBase]


class AllauthMiddleware:
    """Throttle anonymous requests to allauth, refuse changes in a viewing and unstorable texts, and return our errors."""

    def __init__(self, get_response: Next) -> None:
        self._next = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path.startswith("/_allauth/"):
            return self._next(request)
        if not request.user.is_authenticated:
            try:
                throttle(get_anonymous_bucket(request))
            except LimitReached as error:
                return build_error_response(error)
        elif request.method not in SAFE_METHODS and find_viewing(request.session, request.user) is not None:
            return build_error_response(build_viewing_error())
        if not has_storable_texts(request.body):
            return build_error_response(Invalid("Something in the request is no text."))
        response = self._next(request)
        return build_rate_limit_response() if response.status_code == 429 else response

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not request.path.startswith("/_allauth/") or not isinstance(error, RedisError | OperationalError):
            return None
        unavailable = Unavailable("Signing in is not possible right now.", hints=["Try again in a moment."])
        return JsonResponse(unavailable.body(), status=unavailable.status, headers={"Retry-After": "2"})


def build_rate_limit_response() -> JsonResponse:
    """Return the response to too many attempts."""
    return build_error_response(
        LimitReached(
            "Too many attempts.",
            hints=[f"Try again in {RETRY_AFTER_SECONDS} s."],
            data={"seconds": RETRY_AFTER_SECONDS},
        )
    )


def build_error_response(error: AppError) -> JsonResponse:
    """Return the response for this error, with `Retry-After` if the error has the seconds to wait."""
    headers = {"Retry-After": str(error.data["seconds"])} if "seconds" in error.data else {}
    return JsonResponse(error.body(), status=error.status, headers=headers)


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def has_storable_texts(body: bytes) -> bool:
    """Return whether each text of a JSON body can be encoded as UTF-8. True for a body that is not JSON.

    JSON can contain half of a surrogate pair, which cannot be stored or hashed (SEC20).
    """
    if not _SURROGATE.search(body):
        return True
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    except (ValueError, RecursionError):
        pass
    return True


def get_web_app_url(request: HttpRequest) -> str:
    """Return the URL of the web app without a trailing slash, for links in mails."""
    return str(settings.PUBLIC_URL) or request.build_absolute_uri("/").rstrip("/")


def build_sign_up_closed_response(message: str) -> JsonResponse:
    """Return the response if sign-up is closed or requires an invite link."""
    return build_error_response(Forbidden(message, code=Code.SIGN_UP_CLOSED))
