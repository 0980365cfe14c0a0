"""Turn the content of a result into a text for the model."""

import json
from collections.abc import Iterator
from typing import Any

MAX_SHORT_CHARACTERS = 300
"""Characters of a text that may say less than the structured value beside it."""


def build_text(content: Any, structured: Any) -> str:
    """Return the text of a result for the model. Pictures, sounds and links are named, and nothing is loaded.

    The structured value is added as JSON if the server sent no text beside it, or a short one that does not have all its values,
    such as "returned 6 items".
    """
    blocks = content if isinstance(content, list) else [] if content is None else [content]
    parts = [part for block in blocks if (part := _describe_block(block))]
    text = "\n\n".join(parts)
    if structured is not None and len(text) <= MAX_SHORT_CHARACTERS:
        if not text or any(value not in text for value in _list_values(structured)):
            parts.append(json.dumps(structured, ensure_ascii=False, indent=1))
    return "\n\n".join(parts)


def _list_values(value: Any) -> Iterator[str]:
    """Yield the plain values of a JSON value as texts."""
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _list_values(item)
    else:
        yield value if isinstance(value, str) else json.dumps(value)


def _describe_block(block: Any) -> str:
    match block:
        case str():
            return block
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind, "mimeType": mime, "data": str(data)}:
            return f"[{kind} {mime}, {len(data) * 3 // 4:,} bytes, not loaded]"
        case {"type": "resource_link", "uri": uri}:
            return f"[resource {block.get('name') or ''} {uri}, not loaded]"
        case {"type": "resource", "resource": {"text": str(text)}}:
            return text
        case {"type": "resource", "resource": {"uri": uri}}:
            return f"[resource {uri}, not loaded]"
        case {"type": str(kind)}:
            return f"[{kind[:40]}, which cannot be read]"
        case _:
            return ""
