"""What every row is: closed and frozen."""

from pydantic import BaseModel, ConfigDict


class Row(BaseModel):
    """Closed and frozen: an unknown field is an error on our side, never silently sent."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)
