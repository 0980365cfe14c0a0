"""Read descriptions of tools from strangers: hash them, clean them, and refuse what is too large (SEC31)."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from common.text import remove_invisible
from mcp_client.protocol import MCPToolDescription

MAX_TOOLS = 200
MAX_NAME_CHARACTERS = 128
MAX_DESCRIPTION_CHARACTERS = 8_000
MAX_SCHEMA_BYTES = 32 * 1024
MAX_SCHEMA_DEPTH = 20
_HASHED = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
"""The parts of a description that a model or an editor reads. Icons and metadata may differ between two answers."""


class Unusable(ValueError):
    """The description of a tool breaks a rule; the message is for the editor."""


def hash_description(sent: dict[str, Any]) -> str:
    """Return the SHA-256 of a tool's description as its server sent it, whatever the order of the keys."""
    hashed = {key: sent[key] for key in _HASHED if sent.get(key) is not None}
    return hashlib.sha256(json.dumps(hashed, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def parse_descriptions(
    sent: Sequence[dict[str, Any] | tuple[str, str]],
) -> tuple[tuple[MCPToolDescription, ...], dict[str, str]]:
    """Return the usable tools of a listing, and the reasons why the others are left out, by name.

    `sent`: the descriptions; the name and the reason of one that is not of the protocol.
    """
    tools: list[MCPToolDescription] = []
    left_out: dict[str, str] = {}
    counts = Counter(one["name"] for one in sent if isinstance(one, dict))
    for one in sent:
        if isinstance(one, tuple):
            left_out[remove_invisible(one[0])[:MAX_NAME_CHARACTERS]] = one[1]
            continue
        try:
            if counts[one["name"]] > 1:
                raise Unusable("The server has two tools of this name.")
            tools.append(parse_description(one))
        except Unusable as problem:
            left_out[remove_invisible(one["name"])[:MAX_NAME_CHARACTERS]] = str(problem)
    return tuple(tools), left_out


def parse_description(sent: dict[str, Any]) -> MCPToolDescription:
    """Return one tool. Raises `Unusable`. A description that is too long is not cut: an editor approves the whole text."""
    name, description = sent["name"], sent.get("description") or ""
    if not name or len(name) > MAX_NAME_CHARACTERS or remove_invisible(name) != name or not name.strip():
        raise Unusable("Its name is empty, too long, or has invisible characters.")
    if len(description) > MAX_DESCRIPTION_CHARACTERS:
        raise Unusable(f"Its description has more than {MAX_DESCRIPTION_CHARACTERS:,} characters.")
    input_schema = {"type": "object"} | sent["inputSchema"]  # some servers leave the type out
    if input_schema["type"] != "object":
        raise Unusable("Its input schema is not that of an object.")
    if (sent.get("execution") or {}).get("taskSupport") == "required":
        raise Unusable("It can only be called as a task, which is not supported.")
    annotations = _parse_object(sent.get("annotations") or {}, "annotations")
    return MCPToolDescription(
        name=name,
        title=" ".join(remove_invisible(sent.get("title") or str(annotations.get("title") or "")).split())[
            :MAX_NAME_CHARACTERS
        ],
        description=remove_invisible(description).strip(),
        input_schema=_parse_object(input_schema, "input schema"),
        output_schema=_parse_object(sent["outputSchema"], "output schema") if sent.get("outputSchema") else None,
        annotations=annotations,
        is_read_only=annotations.get("readOnlyHint") is True,
        hash=hash_description(sent),
    )


def _parse_object(sent: dict[str, Any], what: str) -> dict[str, Any]:
    _check_shape(sent, what)
    cleaned: dict[str, Any] = _clean(sent)
    if len(json.dumps(cleaned)) > MAX_SCHEMA_BYTES:
        raise Unusable(f"Its {what} is larger than {MAX_SCHEMA_BYTES // 1024} KB.")
    return cleaned


def _check_shape(sent: object, what: str) -> None:
    """Raise `Unusable` for a value that is too deep, or that refers to another document. It is walked without recursion."""
    level = [sent]
    for _ in range(MAX_SCHEMA_DEPTH):
        for value in level:
            reference = value.get("$ref") if isinstance(value, dict) else None
            if isinstance(reference, str) and not reference.startswith("#"):
                raise Unusable(f"Its {what} refers to another document.")
        level = [child for value in level for child in _list_children(value)]
        if not level:
            return
    raise Unusable(f"Its {what} is nested more than {MAX_SCHEMA_DEPTH} levels deep.")


def _list_children(value: object) -> list[object]:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [child for child in children if isinstance(child, (dict, list))]


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return remove_invisible(value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {remove_invisible(key): _clean(item) for key, item in value.items()}
    return value
