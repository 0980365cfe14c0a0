"""Turn the content of a result into a text for the model."""

import json
from collections.abc import Iterable
from typing import Any


def build_text(content: Iterable[dict[str, Any]], structured: Any) -> str:
    """Return the text of a result for the model. Pictures, sounds and links are named, and nothing is loaded.

    The structured value is written as JSON if the server sent no text beside it.
    """
    parts = [part for block in content if (part := _describe_block(block))]
    if structured is not None and not parts:
        parts = [json.dumps(structured, ensure_ascii=False, indent=1)]
    return "\n\n".join(parts)


def _describe_block(block: dict[str, Any]) -> str:
    match block:
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
        case _:
            return ""
