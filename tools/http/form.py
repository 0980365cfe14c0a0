"""The definition of an HTTP tool, and the form in which a person writes it."""

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any, Literal

from pydantic import Field, ValidationError

from common.errors import Invalid
from common.request_types import NOT_BLANK, StrictModel
from common.text import remove_invisible
from events.rows import ToolEffect
from tools.http.mapping import READ_METHODS, ArgumentLocation, Method, RequestMapping

ArgumentType = Literal["string", "integer", "number", "boolean", "strings"]
_TYPES: dict[str, dict[str, Any]] = {
    **{name: {"type": name} for name in ("string", "integer", "number", "boolean")},
    "strings": {"type": "array", "items": {"type": "string"}, "maxItems": 100},
}


@dataclass(frozen=True)
class Definition:
    """The definition that editors approve by its hash: all that a model reads of it, and the request that a call sends."""

    description: str
    effect: ToolEffect
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    request: dict[str, Any]

    @property
    def hash(self) -> str:
        """The SHA-256 of the definition."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


class FormArgument(StrictModel):
    """An argument as the form describes it. `target`: its name in the request, if it is another one."""

    name: str = Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")
    where: ArgumentLocation
    type: ArgumentType = "string"
    description: str = Field(default="", max_length=500)
    is_required: bool = False
    target: str = Field(default="", max_length=128)


class ToolForm(StrictModel):
    """The definition of an HTTP tool. `effect` null: GET and HEAD read, all other methods write. `body`: the format of the
    arguments in the body."""

    description: str = Field(max_length=2000, pattern=NOT_BLANK)
    method: Method
    path: str = Field(max_length=1000)
    arguments: tuple[FormArgument, ...] = Field(default=(), max_length=50)
    body: Literal["json", "form"] = "json"
    effect: ToolEffect | None = None

    def build_definition(self) -> Definition:
        """Return the definition. Raises `Invalid`."""
        arguments = [{"name": one.name, "where": one.where, "target": one.target} for one in self.arguments]
        body = self.body if any(one.where == "body" for one in self.arguments) else "none"
        try:
            mapping = RequestMapping.model_validate(
                {"method": self.method, "path": self.path, "arguments": arguments, "body": body}
            )
        except ValidationError as error:
            raise Invalid("The request does not fit.", hints=[e["msg"] for e in error.errors()[:5]]) from error
        in_path = {one.sent_name for one in mapping.arguments if one.where == "path"}
        in_template = set(mapping.list_placeholders())
        if in_path != in_template:
            raise Invalid(
                "Each {name} of the path needs an argument in the path, and the other way round.",
                hints=[
                    *(f"form.path: {{{name}}} has no argument." for name in sorted(in_template - in_path)[:5]),
                    *(f"form.arguments: The path has no {{{name}}}." for name in sorted(in_path - in_template)[:5]),
                ],
            )
        properties = {
            one.name: _TYPES[one.type] | ({"description": one.description} if one.description else {})
            for one in self.arguments
        }
        return Definition(
            description=remove_invisible(self.description).strip(),
            effect=self.effect or ("read" if self.method in READ_METHODS else "write"),
            input_schema={
                "type": "object",
                "properties": properties,
                "additionalProperties": False,
                "required": [one.name for one in self.arguments if one.is_required or one.where == "path"],
            },
            output_schema=None,
            request=mapping.model_dump(mode="json"),
        )
