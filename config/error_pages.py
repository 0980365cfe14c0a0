"""Error handlers of Django: JSON for paths of the API, plain text for others."""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse

from common.errors import AppError, Code, Forbidden, Invalid, NotFound, Unavailable


class Internal(AppError):
    """An internal error. Its details are in the log only."""

    status = 500
    default_code = Code.INTERNAL


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _build_response(request, Invalid("The request could not be understood."))


def forbidden(request: HttpRequest, exception: Exception | None = None, reason: str = "") -> HttpResponse:
    return _build_response(request, Forbidden(reason or "This is not allowed."))


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _build_response(request, NotFound("There is nothing at this URL."))


def internal_error(request: HttpRequest) -> HttpResponse:
    error = sys.exception()
    if isinstance(error, RecursionError) and "JSON" in str(error):
        return bad_request(request)  # allauth parses the bodies of sign-in by itself (SEC20)
    if isinstance(error, OperationalError | InterfaceError):
        answer = _build_response(request, Unavailable("The database does not answer right now.", hints=["Try again."]))
        answer["Retry-After"] = "2"
        return answer
    return _build_response(request, Internal("Something went wrong on our side.", hints=["Try again."]))


def _build_response(request: HttpRequest, error: AppError) -> HttpResponse:
    if request.path.startswith("/api/"):
        return JsonResponse(error.body(), status=error.status)
    return HttpResponse(error.message, status=error.status, content_type="text/plain")
