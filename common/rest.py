"""The conventions of the API: Pydantic models check the input, rows are the output, and all errors have one format."""

import logging
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse
from drf_spectacular.utils import OpenApiParameter
from pydantic import BaseModel, ConfigDict, ValidationError
from rest_framework import exceptions
from rest_framework.parsers import JSONParser
from rest_framework.request import Request as AnyRequest
from rest_framework.response import Response

from common.egress import HostRefused, build_hint_for_operators
from common.errors import AppError, Code, Invalid, LimitReached
from common.request_ids import build_request_data
from common.request_types import INVALID_REQUEST, JSON, NO_NUL, QUERY, StrictModel, describe_problem
from common.text import to_storable_json

logger = logging.getLogger(__name__)

T = TypeVar("T", bound=BaseModel)


class Request(AnyRequest):
    """A request. `user` is the signed-in person or agent, whom DRF's permission classes require; with `AllowAny` it may be null."""

    user: Any


class Body(StrictModel):
    """Base class of bodies and query strings. A docstring below a field is its description in the schema."""

    model_config = ConfigDict(use_attribute_docstrings=True)


class ErrorFacts(BaseModel):
    """An error of the API. The web app has a text for each code in every language."""

    code: Code
    message: str
    hints: list[str]
    data: dict[str, Any] | None = None


class ErrorAnswer(BaseModel):
    """The body of every error response."""

    error: ErrorFacts


class Page(BaseModel, Generic[T]):
    """A page of a list. `next` is the cursor of the following page; null at the end."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    results: Sequence[T]
    next: str | None = None


class StorableJSONParser(JSONParser):
    """Parses JSON, and makes its texts storable in PostgreSQL. JSON that cannot be stored is refused (SEC20)."""

    def parse(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return to_storable_json(super().parse(*args, **kwargs))
        except RecursionError as error:
            raise exceptions.ParseError("The JSON is nested too deeply.") from error
        except ValueError as error:
            raise exceptions.ParseError(str(error)) from error


def read(request: Request, model: type[T]) -> T:
    """Return the body as `model`. Raise `Invalid` with one hint for each wrong field."""
    try:
        return model.model_validate(request.data, context=JSON)
    except ValidationError as error:
        raise build_invalid_error(error) from error


def read_query(request: Request, model: type[T]) -> T:
    """Return the query string as `model`. Raise `Invalid`."""
    repeated = [name for name, values in request.query_params.lists() if len(values) > 1]
    if repeated:
        raise Invalid(INVALID_REQUEST, hints=[f"{name}: It is there more than once." for name in repeated[:10]])
    if with_nul := [name for name, value in request.query_params.items() if "\x00" in value]:
        raise Invalid(INVALID_REQUEST, hints=[f"{name}: A text has no NUL character." for name in with_nul[:10]])
    try:
        return model.model_validate(request.query_params.dict(), context=QUERY)
    except ValidationError as error:
        raise build_invalid_error(error, whole="query") from error


def build_query_parameters(model: type[BaseModel]) -> list[OpenApiParameter]:
    """Return the parameters of a query string for the OpenAPI schema."""
    schema = model.model_json_schema()
    required = schema.get("required", ())
    components = schema.get("$defs", {})
    return [
        OpenApiParameter(
            name,
            _to_parameter_schema(field, components),
            required=name in required,
            description=field.get("description", ""),
        )
        for name, field in schema["properties"].items()
    ]


def _to_parameter_schema(field: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a field for a query string: without its title and null, with the component in place of its
    `$ref`, and with a pattern that refuses NUL."""
    [kind] = [one for one in field.get("anyOf", [{}]) if one != {"type": "null"}]
    schema = field | kind
    if reference := schema.pop("$ref", None):
        schema |= components[reference.removeprefix("#/$defs/")]
    left_out = ("title", "anyOf", "description")
    schema = {key: value for key, value in schema.items() if key not in left_out and value is not None}
    if schema.get("type") == "string" and not schema.keys() & {"pattern", "format", "enum"}:
        schema["pattern"] = NO_NUL
    return schema


def build_invalid_error(error: ValidationError, whole: str = "body") -> Invalid:
    """Return the error with one hint for each field, without the input, which may contain a secret. `whole`: the word for all."""
    problems = error.errors(include_input=False)[:10]
    return Invalid(INVALID_REQUEST, hints=[describe_problem(problem, whole) for problem in problems])


_ANY_PAGE = Page[Any]  # a constant, because Pydantic builds the class at each use


def build_response(row: BaseModel, status: int = 200) -> HttpResponse:
    """Return the response with a row as its body."""
    return HttpResponse(row.model_dump_json(by_alias=True), content_type="application/json", status=status)


def build_list_response(rows: Iterable[BaseModel], next: str | None = None) -> HttpResponse:
    """Return the response with rows as a page."""
    return build_response(_ANY_PAGE(results=list(rows), next=next))


def build_empty_response() -> HttpResponse:
    """Return an empty response (204)."""
    return HttpResponse(status=204)


def handle_error(error: Exception, context: dict[str, Any]) -> Response:
    """Return the response of an error. This is DRF's exception handler."""
    app_error = _to_app_error(error)
    if app_error is None:
        logger.error("A request failed: %s", type(context.get("view")).__name__, exc_info=error)
        app_error = _build_app_error(500, "Something went wrong on our side. Nothing was changed.", Code.INTERNAL)
        app_error.data = build_request_data()
    if isinstance(error, HostRefused) and error.can_be_allowed and getattr(context["request"].user, "is_staff", False):
        error.hints = [*error.hints, build_hint_for_operators()]
    response = Response(app_error.body(), status=app_error.status)
    if isinstance(error, exceptions.APIException):
        if header := getattr(error, "auth_header", None):
            response["WWW-Authenticate"] = header
        if wait := getattr(error, "wait", None):
            response["Retry-After"] = str(int(wait))
    if isinstance(error, LimitReached) and "seconds" in error.data:
        response["Retry-After"] = str(error.data["seconds"])
    if response.status_code == 503:
        response["Retry-After"] = "2"
    return response


_CODES = {
    400: Code.INVALID,
    401: Code.NOT_SIGNED_IN,
    403: Code.FORBIDDEN,
    404: Code.NOT_FOUND,
    405: Code.UNSUPPORTED,
    406: Code.UNSUPPORTED,
    413: Code.TOO_LARGE,
    415: Code.UNSUPPORTED,
    429: Code.LIMIT_REACHED,
}


def _to_app_error(error: Exception) -> AppError | None:
    """Return the error as an `AppError`; None for a bug."""
    if isinstance(error, AppError):
        return error
    if isinstance(error, ValidationError):
        return build_invalid_error(error)
    if isinstance(error, (OperationalError, InterfaceError)):
        return _build_app_error(503, "The database does not answer right now.", Code.UNAVAILABLE)
    if isinstance(error, Http404):
        return _build_app_error(404, "There is no such thing here.", Code.NOT_FOUND)
    if isinstance(error, PermissionDenied):
        return _build_app_error(403, "You may not do this.", Code.FORBIDDEN)
    if isinstance(error, exceptions.APIException):
        return _build_app_error(error.status_code, str(error.detail), _CODES.get(error.status_code, Code.INVALID))
    return None


def _build_app_error(status: int, message: str, code: Code) -> AppError:
    error = AppError(message, code=code)
    error.status = status
    return error
