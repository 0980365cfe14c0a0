"""The fields of a spec as one flat dict, by which specs are compared and merged. It follows the declaration of `SpecContent`."""

from typing import Any, get_args

from pydantic import BaseModel

from agents.specs.content import ListItem, SpecContent

PROMPT = "prompt"
"""The only field that is compared and merged line by line, and so is not in the flat dict."""


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _is_list_of_items(annotation: Any) -> bool:
    return any(isinstance(arg, type) and issubclass(arg, ListItem) for arg in get_args(annotation))


GROUPS = frozenset(name for name, field in SpecContent.model_fields.items() if _is_group(field.annotation))
"""The fields that have fields of their own."""
LISTS = tuple(name for name, field in SpecContent.model_fields.items() if _is_list_of_items(field.annotation))
"""The fields that are lists of items, each of which has a key."""


def flatten_spec(content: SpecContent) -> dict[str, Any]:
    """Return all fields of a spec except the prompt by their paths, as JSON values, in the order in which they are declared.

    A field of a group is `<group>.<field>`, for example `limits.max_steps`; an item of a list is `<list>.<key>`, for example
    `tools.web_fetch`. Any other field is one value.
    """
    flat: dict[str, Any] = {}
    for name, value in content.as_json().items():
        if name in GROUPS:
            flat |= {f"{name}.{key}": part for key, part in value.items()}
        elif name in LISTS:
            items = zip(getattr(content, name), value, strict=True)
            flat |= {f"{name}.{item.key}": part for item, part in items}
        elif name != PROMPT:
            flat[name] = value
    return flat


def unflatten_spec(flat: dict[str, Any], *, prompt: str) -> dict[str, Any]:
    """Return the JSON of the spec with these fields (`flatten_spec`) and this prompt. An item that is null is left out. The items
    of a list are in the order of their paths."""
    content: dict[str, Any] = {name: {} for name in GROUPS} | {name: [] for name in LISTS} | {PROMPT: prompt}
    for path, value in flat.items():
        name, _, key = path.partition(".")
        if name in GROUPS:
            content[name][key] = value
        elif name not in LISTS:
            content[name] = value
        elif value is not None:
            content[name].append(value)
    return content


def get_field_name(path: str) -> str:
    """Return the field of `SpecContent` to which a path belongs, for example `tools` for `tools.web_fetch`."""
    return path.partition(".")[0]
