"""What Django itself refuses, before a view: JSON in our shape under the API's paths, short plain text elsewhere."""

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse

from common.errors import AppError, Code, Forbidden, Invalid, NotFound, Unavailable


class Internal(AppError):
    """A fault of ours; what it was stands in the log only."""

    status = 500
    default_code = Code.INTERNAL


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _tell(request, Invalid("The request could not be understood."))


def forbidden(request: HttpRequest, exception: Exception | None = None, reason: str = "") -> HttpResponse:
    return _tell(request, Forbidden(reason or "This is not allowed."))


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return _tell(request, NotFound("There is nothing at this address."))


def internal_error(request: HttpRequest) -> HttpResponse:
    error = sys.exception()
    if isinstance(error, RecursionError) and "JSON" in str(error):
        return bad_request(request)  # bodies that others parse, such as those of sign-in (SEC20)
    if isinstance(error, OperationalError | InterfaceError):
        answer = _tell(request, Unavailable("The database does not answer right now.", hints=["Try again."]))
        answer["Retry-After"] = "2"
        return answer
    return _tell(request, Internal("Something went wrong on our side.", hints=["Try again."]))


def _tell(request: HttpRequest, error: AppError) -> HttpResponse:
    if request.path.startswith("/api/"):
        return JsonResponse(error.body(), status=error.status)
    return HttpResponse(error.message, status=error.status, content_type="text/plain")
