"""The base class and the field types of requests. They accept exactly what the schema says, neither less nor more."""

import re
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import ErrorDetails, PydanticCustomError

JSON = "json"
"""The context in which a body is read."""
QUERY = "query"
"""The context in which a query string is read."""

INVALID_REQUEST = "The request does not match the schema."
"""The message for a request that the schema does not allow."""
MAX_NUMBER = 2**31 - 1
"""The highest revision or version that a column holds."""
NOT_BLANK = r"[^\s\x00\x1c-\x1f]"
"""A pattern of texts that are not empty after whitespace at both ends and NUL are removed."""
NO_NUL = r"^[^\x00]*$"
"""A pattern of the texts of a query string."""

Revision = Annotated[int, Field(ge=0, le=MAX_NUMBER)]
Version = Annotated[int, Field(ge=1, le=MAX_NUMBER)]
Name = Annotated[str, Field(min_length=1, max_length=80, pattern=NOT_BLANK)]
Handle = Annotated[str, Field(pattern=r"^@?[A-Za-z0-9]([A-Za-z0-9_-]{0,38}[A-Za-z0-9])?$")]
"""A handle as people write it. `common.handles.normalize_handle` returns it as it is stored."""

Language = Literal["en", "zh-hant", "zh-hans"]


def describe_problem(problem: ErrorDetails, whole: str = "body") -> str:
    """Return the hint for one error of Pydantic: the place, such as `actor_ids.0`, or `whole`, and what is wrong there."""
    context = problem.get("ctx", {})
    place = problem["loc"] + ((context["index"],) if problem["type"] == "item" else ())
    # Pydantic writes "Value error, " before the text of our own checks.
    text = str(context["error"]) if problem["type"] == "value_error" else problem["msg"]
    return f"{'.'.join(map(str, place)) or whole}: {text}"


class StrictModel(BaseModel):
    """A model that refuses unknown fields, so that a misspelt field is not ignored."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)

    @field_validator("*", mode="before")
    @classmethod
    def _check_kind(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse what Pydantic would convert: in JSON neither `true` nor `"1"` is the number 1. A query string has texts only,
        which must be written as in JSON."""
        if info.context is None or info.field_name is None or value is None:
            return value
        kind = _get_kinds_to_check(cls).get(info.field_name)
        if kind is not None:
            check = _CHECKS[info.context, kind]
            if not isinstance(value, list):
                check(value)
                return value
            for index, one in enumerate(value):
                try:
                    check(one)
                except ValueError as error:
                    raise PydanticCustomError("item", "{text}", {"text": str(error), "index": index}) from None
        return value


def _check_json_number(value: object) -> None:
    if isinstance(value, bool | str):
        raise ValueError("Input should be a number")


def _check_json_boolean(value: object) -> None:
    if not isinstance(value, bool):
        raise ValueError("Input should be true or false")


def _check_id(value: object) -> None:
    if not (isinstance(value, str) and _ID.fullmatch(value)):
        raise ValueError("Input should be a UUID, with its hyphens")


def _check_time(value: object) -> None:
    # Pydantic also takes a number of seconds since 1970, as a number or a text.
    if not (isinstance(value, str) and _TIME.fullmatch(value)):
        raise ValueError("Input should be a time as 2026-01-31T09:00:00Z")


def _check_query_number(value: str) -> None:
    if not _DIGITS.fullmatch(value):
        raise ValueError("Input should be a whole number")


def _check_query_boolean(value: str) -> None:
    if value not in ("true", "false"):
        raise ValueError("Input should be true or false")


_ID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\d[Tt ].+")
_DIGITS = re.compile(r"-?[0-9]+")
_CHECKS: dict[tuple[str, type], Any] = {
    (JSON, float): _check_json_number,
    (JSON, bool): _check_json_boolean,
    (JSON, UUID): _check_id,
    (JSON, AwareDatetime): _check_time,
    (QUERY, float): _check_query_number,
    (QUERY, bool): _check_query_boolean,
    (QUERY, UUID): _check_id,
    (QUERY, AwareDatetime): _check_time,
}


@cache
def _get_kinds_to_check(model: type[BaseModel]) -> dict[str, type]:
    """Return the fields whose values `_CHECKS` checks before Pydantic converts them, with the kind of each: `float` (also for
    integers), `bool`, `UUID` or `AwareDatetime`."""
    kinds: dict[str, type] = {}
    for name, field in model.model_fields.items():
        found = _list_types(field.annotation) - {type(None), list}
        if found <= {int, float}:
            kinds[name] = float
        elif found in ({bool}, {UUID}, {AwareDatetime}):
            kinds[name] = found.pop()
    return kinds


def _list_types(annotation: Any) -> set[Any]:
    """Return the types of a field: for a union its members, for a list also those of its items."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _list_types(get_args(annotation)[0])
    if origin in (Union, UnionType, list):
        inside = set[Any]().union(*(_list_types(one) for one in get_args(annotation)))
        return inside | {list} if origin is list else inside
    return {annotation}
