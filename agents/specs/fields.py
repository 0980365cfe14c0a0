"""The fields of a spec as one flat dict, by which specs are compared and merged. It follows the declaration of `SpecContent`."""

from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel

from agents.specs.content import ListItem, SpecContent

PROMPT = "prompt"
"""The only field that is compared and merged line by line, and so is not in the flat dict."""


def _is_group(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _is_list_of_items(annotation: Any) -> bool:
    """Return whether a field is a list of `ListItem`, or of texts, each of which is its own key."""
    items = get_args(annotation)[0] if get_origin(annotation) is tuple else None
    item = get_args(items)[0] if get_origin(items) is Annotated else items
    return isinstance(item, type) and issubclass(item, (ListItem, str))


def _list_lists() -> Iterator[str]:
    for name, field in SpecContent.model_fields.items():
        if _is_list_of_items(field.annotation):
            yield name
        elif _is_group(field.annotation):
            group: Any = field.annotation
            yield from (
                f"{name}.{key}" for key, part in group.model_fields.items() if _is_list_of_items(part.annotation)
            )


GROUPS = frozenset(name for name, field in SpecContent.model_fields.items() if _is_group(field.annotation))
"""The fields that have fields of their own."""
LISTS = tuple(_list_lists())
"""The paths of the fields that are lists of items, each of which has a key."""


def flatten_spec(content: SpecContent) -> dict[str, Any]:
    """Return all fields of a spec except the prompt by their paths, as JSON values, in the order in which they are declared.

    A field of a group is `<group>.<field>`, for example `limits.max_steps`; an item of a list is `<list>.<key>`, for example
    `tools.web_fetch` or `team.members.weather`. Any other field is one value.
    """
    flat: dict[str, Any] = {}
    for name, value in content.as_json().items():
        if name in GROUPS:
            for key, part in value.items():
                flat |= _flatten_field(f"{name}.{key}", getattr(getattr(content, name), key), part)
        elif name != PROMPT:
            flat |= _flatten_field(name, getattr(content, name), value)
    return flat


def _flatten_field(path: str, value: Any, as_json: Any) -> dict[str, Any]:
    if path not in LISTS:
        return {path: as_json}
    keys = (item if isinstance(item, str) else item.key for item in value)
    return {f"{path}.{key}": item for key, item in zip(keys, as_json, strict=True)}


def unflatten_spec(flat: dict[str, Any], *, prompt: str) -> dict[str, Any]:
    """Return the JSON of the spec with these fields (`flatten_spec`) and this prompt. An item that is null is left out. The items
    of a list are in the order of their paths."""
    content: dict[str, Any] = {name: {} for name in GROUPS} | {PROMPT: prompt}
    items: dict[str, list[Any]] = {name: [] for name in LISTS}
    for path, value in flat.items():
        list_path = find_list(path)
        if list_path is None:
            _set_field(content, path, value)
        elif value is not None:
            items[list_path].append(value)
    for list_path, values in items.items():
        _set_field(content, list_path, values)
    return content


def _set_field(content: dict[str, Any], path: str, value: Any) -> None:
    name, _, key = path.partition(".")
    if key:
        content[name][key] = value
    else:
        content[name] = value


def find_list(path: str) -> str | None:
    """Return the list of which a path is an item, for example `tools` for `tools.web_fetch`; null for any other path."""
    return next((name for name in LISTS if path.startswith(f"{name}.")), None)


def get_field_name(path: str) -> str:
    """Return the field of `SpecContent` to which a path belongs, for example `tools` for `tools.web_fetch`."""
    return path.partition(".")[0]
