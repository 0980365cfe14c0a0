"""The parameters of a query class in the schema of the API, and the hints of wrong bodies."""

from enum import StrEnum
from types import SimpleNamespace
from typing import Self, cast
from uuid import UUID

import pytest
from pydantic import AwareDatetime, BaseModel, model_validator

from common.errors import Invalid
from common.request_types import NO_NUL
from common.rest import Body, Request, build_query_parameters, read


class Kind(StrEnum):
    IMAGE = "image"
    TEXT = "text"


class Query(BaseModel):
    required: Kind
    kind: Kind = Kind.IMAGE
    other: Kind | None = None
    text: str | None = None


def test_a_parameter_has_the_schema_of_its_enumeration_and_no_reference():
    parameters = {parameter.name: parameter for parameter in build_query_parameters(Query)}
    enumeration = {"type": "string", "enum": ["image", "text"]}
    assert {name: parameter.type for name, parameter in parameters.items()} == {
        "required": enumeration,
        "kind": {"default": "image", **enumeration},
        "other": enumeration,
        "text": {"type": "string", "pattern": NO_NUL},
    }
    assert [name for name, parameter in parameters.items() if parameter.required] == ["required"]


class Example(Body):
    ids: list[UUID] = []
    is_on: bool = False
    from_: int | None = None
    until: int | None = None
    at: AwareDatetime | None = None

    @model_validator(mode="after")
    def _has_one(self) -> Self:
        if self.from_ and self.until:
            raise ValueError("Give `from_` or `until`, not both.")
        return self


@pytest.mark.parametrize(
    ("body", "hint"),
    [
        ({"ids": ["x"]}, "ids.0: Input should be a UUID, with its hyphens"),
        ({"ids": [str(UUID(int=1)), UUID(int=2).hex]}, "ids.1: Input should be a UUID, with its hyphens"),
        ({"is_on": "true"}, "is_on: Input should be true or false"),
        ({"at": 1764444444}, "at: Input should be a time as 2026-01-31T09:00:00Z"),
        ({"at": "1764444444"}, "at: Input should be a time as 2026-01-31T09:00:00Z"),
        ({"at": "2026-01-31T09:00:00"}, "at: Input should have timezone info"),
        ({"from_": 1, "until": 2}, "body: Give `from_` or `until`, not both."),
        ({"foo": 1}, "foo: Extra inputs are not permitted"),
    ],
)
def test_a_hint_names_the_place_and_what_is_wrong_there(body, hint):
    with pytest.raises(Invalid) as refused:
        read(cast(Request, SimpleNamespace(data=body)), Example)
    assert refused.value.hints == [hint]
