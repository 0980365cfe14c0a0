"""Error handlers of Django: JSON for paths of the API, the page of the web app or plain text for others."""

import sys
from http import HTTPStatus

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse

from common.errors import AppError, Code, Forbidden, Invalid, NotFound, Unavailable
from common.request_ids import build_request_data
from config.views import web_app


class Internal(AppError):
    """An internal error. Its details are in the log only."""

    status = 500
    default_code = Code.INTERNAL


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return the response to a request that cannot be understood."""
    return _build_response(request, Invalid("The request could not be understood."))


def forbidden(request: HttpRequest, exception: Exception | None = None, reason: str = "") -> HttpResponse:
    """Return the response to a request that is not allowed. `reason` is that of Django's CSRF check."""
    return _build_response(request, Forbidden(reason or "This is not allowed."))


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Return the response to a request for an unknown URL. A browser that opens one gets the web app, which says so."""
    is_opened = request.method == "GET" and "text/html" in request.headers.get("Accept", "")
    if is_opened and not request.path.startswith("/api/"):
        page = web_app(request)
        if page.status_code == HTTPStatus.OK:
            page.status_code = HTTPStatus.NOT_FOUND
            return page
    return _build_response(request, NotFound("There is nothing at this URL."))


def internal_error(request: HttpRequest) -> HttpResponse:
    """Return the response to a request whose view has raised an exception: `unavailable` if the database does not answer."""
    error = sys.exception()
    # A body nested too deeply raises RecursionError in allauth's parser, which reads the bodies of sign-in (SEC20).
    if isinstance(error, RecursionError) and "JSON" in str(error):
        return bad_request(request)
    if isinstance(error, OperationalError | InterfaceError):
        response = _build_response(
            request, Unavailable("The database does not answer right now.", hints=["Try again."])
        )
        response["Retry-After"] = "2"
        return response
    internal = Internal("Something went wrong on our side.", hints=["Try again."], data=build_request_data())
    return _build_response(request, internal)


def _build_response(request: HttpRequest, error: AppError) -> HttpResponse:
    """Return the error as JSON for a path of the API, otherwise as text."""
    if request.path.startswith("/api/"):
        return JsonResponse(error.body(), status=error.status)
    return HttpResponse(error.message, status=error.status, content_type="text/plain")
