"""The base class of every row."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

COMPONENT = "x-component"
"""The key of a schema that stands for a component of the OpenAPI document. `realtime.schema` replaces it by a reference."""


class Row(BaseModel):
    """Closed and frozen: an unknown field is an error, and never sent."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)


@dataclass(frozen=True)
class DescribedAs:
    """Marks JSON that is stored and sent without being validated again: the schema describes it as this component."""

    component: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {COMPONENT: self.component}
