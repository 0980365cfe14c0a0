"""Check arguments by the JSON Schema of a workspace tool, which somebody outside the workspace may have written.

The schema and the arguments are both hostile: the work is limited, no other document is loaded, and the keywords whose cost
grows without bounds (regular expressions, `uniqueItems`, `unevaluated…`) are left to the server. They stay in the schema that the
model reads.
"""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from itertools import islice
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import UnknownType, ValidationError
from jsonschema.validators import extend
from pydantic_core import from_json
from referencing import Registry
from referencing.exceptions import Unresolvable

from common.text import to_storable_json, unwrap_json_object
from tools.interface import MAX_ARGUMENT_CHARACTERS, MAX_PROBLEMS, InvalidArguments, ToolError

MAX_KEYWORDS_CHECKED = 50_000
"""Keywords of the schema that are evaluated for one call: about half a second."""
_UNCHECKED = ("pattern", "patternProperties", "uniqueItems", "unevaluatedProperties", "unevaluatedItems", "$dynamicRef")
_keywords_left: ContextVar[list[int]] = ContextVar("keywords_left")

Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class ArgumentsNotCheckable(Exception):
    """The arguments cannot be checked: it would take too long, or the schema is not valid."""


def _limit(check: Keyword) -> Keyword:
    """Return a check of a keyword that raises `ArgumentsNotCheckable` after `MAX_KEYWORDS_CHECKED` checks of one call."""

    def limited(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError] | None:
        left = _keywords_left.get()
        left[0] -= 1
        if left[0] < 0:
            raise ArgumentsNotCheckable
        return check(validator, value, instance, schema)

    return limited


def _check_additional_properties(
    validator: Any, value: Any, instance: Any, schema: Any
) -> Iterator[ValidationError] | None:
    # Beside `patternProperties`, regular expressions decide which properties are additional.
    if "patternProperties" in schema:
        return None
    check: Keyword = Draft202012Validator.VALIDATORS["additionalProperties"]
    return check(validator, value, instance, schema)


_extend: Any = extend  # it has no types
_Validator = _extend(
    Draft202012Validator,
    {name: _limit(check) for name, check in Draft202012Validator.VALIDATORS.items()}
    | {"additionalProperties": _limit(_check_additional_properties)}
    | dict.fromkeys(_UNCHECKED, lambda *_: None),
)


def find_problems(schema: dict[str, Any], value: Any) -> list[str]:
    """Return the first problems of a value.

    Raises `ArgumentsNotCheckable` if the check takes too long, if the schema refers to itself without end, or is not valid.
    """
    _keywords_left.set([MAX_KEYWORDS_CHECKED])
    validator = _Validator(schema, registry=Registry())
    try:
        problems = list(islice(validator.iter_errors(value), MAX_PROBLEMS))
    except (RecursionError, Unresolvable, UnknownType, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise ArgumentsNotCheckable from error
    return [f"{'.'.join(map(str, problem.absolute_path)) or 'arguments'}: {problem.message}" for problem in problems]


def parse_arguments(schema: dict[str, Any], arguments: str) -> dict[str, Any]:
    """Return the arguments of a call. Raises `ToolError` with the problems, for the model (RUN12)."""
    if len(arguments) > MAX_ARGUMENT_CHARACTERS:
        raise ToolError(
            f"The arguments are too long: more than {MAX_ARGUMENT_CHARACTERS:,} characters. The call was not made."
        )
    try:
        value = to_storable_json(from_json(unwrap_json_object(arguments)))
    except ValueError as error:
        raise ToolError("The call was not made, because its arguments are no JSON.") from error
    if not isinstance(value, dict):
        raise ToolError("The call was not made, because its arguments are no JSON object.")
    try:
        problems = find_problems(schema, value)
    except ArgumentsNotCheckable as error:
        raise ToolError("The call was not made, because its arguments could not be checked.", is_final=True) from error
    if problems:
        raise InvalidArguments([problem[:200] for problem in problems])
    return value
