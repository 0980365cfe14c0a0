"""The parameters of a query class in the schema of the API."""

from enum import StrEnum

from pydantic import BaseModel

from common.request_types import NO_NUL
from common.rest import build_query_parameters


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
