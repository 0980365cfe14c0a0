"""The base class of every row."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

COMPONENT = "x-component"
"""A key in JSON schemas, with the name of a component of the OpenAPI document. `realtime.schema` replaces it by a reference."""


class Row(BaseModel):
    """An immutable Pydantic model that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)


@dataclass(frozen=True)
class DescribedAs:
    """An annotation of a JSON field that is not validated again. The schema describes it as this component."""

    component: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {COMPONENT: self.component}
