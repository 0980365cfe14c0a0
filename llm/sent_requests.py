"""Store requests to models as they were sent, and read them back.

The requests of a run repeat each other: a request is stored as the turns that are new, and the number of turns that it has in
common with the request before. Secrets are replaced before it is stored; of an image only its type and size are stored.
"""

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple
from uuid import UUID

from common.logs import MASK, PATTERNS
from llm.messages import ModelRequest, ProviderFields, Turn

MAX_STORED_CHARACTERS = 2_000_000
"""Characters of one stored request. Of a longer one, the middle of its long texts is left out."""
MAX_TEXT_CHARACTERS = 20_000
"""Characters that are stored of each text, if the request exceeds `MAX_STORED_CHARACTERS`."""
COMPRESSION_LEVEL = 1

SectionKind = Literal["prompt", "chat", "pages", "memory", "pinned", "retrieved", "summary", "events"]

# What `PATTERNS` and `_ASSIGNED` replace contains one of these; most texts contain none, and need no regular expression.
_SIGNS = (
    *(f"{prefix}{mark}" for prefix in ("sk", "pk", "rk", "atl", "gho", "ghp", "ghs", "ghu") for mark in "-_"),
    "xox",
    "aiza",
    "bearer",
    "://",
    "api_key",
    "api-key",
    "apikey",
    "password",
    "passwd",
    "secret",
    "access_token",
    "access-token",
)
_ASSIGNED = re.compile(r"(?i)\b((?:api[-_]?key|password|passwd|secret|access[-_]token)\"?\s*[:=]\s*\"?)[^\s\",;]{6,}")


@dataclass(frozen=True)
class Section:
    """A part of the system text. `chat_ids`: the other chats that its content comes from."""

    kind: SectionKind
    text: str
    chat_ids: tuple[UUID, ...] = ()


class StoredSection(NamedTuple):
    """The position of a section in the system text as it was stored."""

    kind: SectionKind
    start: int
    end: int
    chat_ids: tuple[UUID, ...]


class RequestKey(NamedTuple):
    """What identifies a request among those of its run."""

    step_number: int
    attempt: int


@dataclass(frozen=True)
class SentRequest:
    """A request as it was sent. The first turn is the system text, with its `sections`. `is_shortened`: it was too long to be
    stored whole."""

    model: str
    parameters: Mapping[str, Any]
    tools: Sequence[Mapping[str, Any]]
    turns: Sequence[Mapping[str, Any]]
    sections: Sequence[StoredSection] = ()
    is_shortened: bool = False


@dataclass
class RequestRecorder:
    """Encodes the requests of one attempt of a run, each based on the one that was stored before.

    `secret`: the key of the model's endpoint, which is never stored. `origin`: the model (`build_origin`).
    """

    sections: Sequence[Section] = ()
    secret: str = ""
    origin: str = ""
    current: ModelRequest | None = None
    _stored: tuple[RequestKey, ModelRequest] | None = field(default=None, init=False)

    def encode_current(self, key: RequestKey) -> bytes | None:
        """Return the current request as it is stored; null if there is none."""
        if self.current is None:
            return None
        # A request that is recorded again under its key is not based on itself.
        base = self._stored if self._stored and self._stored[0] != key else None
        return encode_request(self.current, self.sections, base=base, secret=self.secret, origin=self.origin)

    def mark_stored(self, key: RequestKey) -> None:
        """Make the current request the base of the next one, and clear it. Call this after the commit."""
        if self.current is not None:
            self._stored = (key, self.current)
        self.current = None


def encode_request(
    request: ModelRequest,
    sections: Sequence[Section] = (),
    *,
    base: tuple[RequestKey, ModelRequest] | None = None,
    secret: str = "",
    origin: str = "",
) -> bytes:
    """Return a request as it is stored. `base`: the stored request before it. `origin`: the model, which gets back what it has
    attached to its answers (`ProviderFields`), and nothing that another one has."""
    stored: dict[str, Any] = {"model": request.model, "parameters": dict(request.parameters)}
    kept = 0
    if base is not None:
        kept = _count_common_turns(base[1].turns, request.turns)
        stored |= {"base": list(base[0]), "kept": kept}
    if base is None or base[1].tools != request.tools:
        stored["tools"] = [
            {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
            for tool in request.tools
        ]
    turns = [_turn_to_json(turn, origin, secret) for turn in request.turns[kept:]]
    if sum(len(turn["text"]) + len(turn.get("provider_fields", "")) for turn in turns) > MAX_STORED_CHARACTERS:
        turns, stored["shortened"] = [turn | {"text": _shorten(turn["text"])} for turn in turns], True
    if kept == 0 and turns:
        stored["sections"] = _find_sections(turns[0]["text"], sections)
    stored["turns"] = turns
    content = _dump(stored)
    if _may_have_secrets(content, secret):
        _remove_all_secrets(stored, secret)
        content = _dump(stored)
    return zlib.compress(content.encode(), COMPRESSION_LEVEL)


def _dump(stored: Mapping[str, Any] | str) -> str:
    return json.dumps(stored, ensure_ascii=False, separators=(",", ":"))


def decode_requests(stored: Mapping[RequestKey, bytes]) -> dict[RequestKey, SentRequest | None]:
    """Return the stored requests of a run. Null: a request that it is based on was removed."""
    decoded: dict[RequestKey, SentRequest | None] = {}
    for key in sorted(stored, key=lambda key: (key.attempt, key.step_number)):
        content = json.loads(zlib.decompress(stored[key]))
        base = decoded.get(RequestKey(*content["base"])) if "base" in content else None
        if "base" in content and base is None:
            decoded[key] = None
            continue
        kept = content.get("kept", 0)
        sections = base.sections if base and kept else ()
        if "sections" in content:
            sections = [
                StoredSection(kind, start, end, tuple(UUID(id) for id in chats))
                for kind, start, end, chats in content["sections"]
            ]
        decoded[key] = SentRequest(
            model=content["model"],
            parameters=content["parameters"],
            tools=content["tools"] if "tools" in content else (base.tools if base else ()),
            turns=[*(base.turns[:kept] if base else ()), *content["turns"]],
            sections=sections,
            is_shortened=bool(content.get("shortened") or (base is not None and kept and base.is_shortened)),
        )
    return decoded


def _may_have_secrets(text: str, secret: str) -> bool:
    """Return whether anything in the text might be a secret. It is fast, and true for some texts without one."""
    lower = text.lower()
    return bool(secret and _escape(secret) in text) or any(sign in lower for sign in _SIGNS)


def _escape(secret: str) -> str:
    """Return the secret as it is inside JSON."""
    return _dump(secret)[1:-1]


def _remove_all_secrets(stored: dict[str, Any], secret: str) -> None:
    """Replace the secrets in a request before it is stored, and correct the positions of the sections of its system text."""
    turns, sections = stored["turns"], stored.get("sections", ())
    if sections:
        system, text, position = turns[0]["text"], "", 0
        for section in sections:
            _, start, end, _ = section
            text += remove_secrets(system[position:start], secret)
            section[1] = len(text)
            text += remove_secrets(system[start:end], secret)
            section[2], position = len(text), end
        turns[0]["text"] = text + remove_secrets(system[position:], secret)
    for turn in turns[1:] if sections else turns:
        turn["text"] = remove_secrets(turn["text"], secret)
        for call in turn.get("calls", ()):
            call["arguments"] = remove_secrets(call["arguments"], secret)
    for tool in stored.get("tools", ()):
        tool["description"] = remove_secrets(tool["description"], secret)
        tool["parameters"] = _remove_from_texts(tool["parameters"], secret)


def _remove_from_texts(value: Any, secret: str) -> Any:
    """Return a value of JSON without the secrets in its texts."""
    match value:
        case str():
            return remove_secrets(value, secret)
        case list():
            return [_remove_from_texts(one, secret) for one in value]
        case dict():
            return {key: _remove_from_texts(one, secret) for key, one in value.items()}
    return value


def remove_secrets(text: str, secret: str = "") -> str:
    """Return the text without `secret`, and without what looks like a key, a bearer token or a password."""
    if secret:
        text = text.replace(secret, MASK).replace(_escape(secret), MASK)
    for pattern, replacement in PATTERNS:
        text = pattern.sub(replacement, text)
    return _ASSIGNED.sub(rf"\1{MASK}", text)


def _count_common_turns(before: Sequence[Turn], after: Sequence[Turn]) -> int:
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        if old is not new and old != new:
            return index
    return min(len(before), len(after))


def _find_sections(system: str, sections: Sequence[Section]) -> list[list[Any]]:
    """Return the kind, start, end and chats of each section in the system text."""
    found: list[list[Any]] = []
    position = 0
    for section in sections:
        start = system.find(section.text, position) if section.text else -1
        if start >= 0:
            position = start + len(section.text)
            found.append([section.kind, start, position, [str(id) for id in section.chat_ids]])
    return found


def _shorten(text: str) -> str:
    if len(text) <= MAX_TEXT_CHARACTERS:
        return text
    half = MAX_TEXT_CHARACTERS // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters are not stored …]\n{text[-half:]}"


def _turn_to_json(turn: Turn, origin: str, secret: str) -> dict[str, Any]:
    stored: dict[str, Any] = {"role": turn.role, "text": turn.text}
    if turn.calls:
        stored["calls"] = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in turn.calls]
    if turn.call_id:
        stored["call_id"] = turn.call_id
    fields = turn.provider_fields
    if fields is not None and fields.origin == origin and (text := _format_provider_fields(fields, secret)):
        stored["provider_fields"] = text
    if turn.images:
        stored["images"] = [{"content_type": image.content_type, "bytes": len(image.data)} for image in turn.images]
    return stored


def _format_provider_fields(fields: ProviderFields, secret: str) -> str:
    """Return what a provider attached to an answer as JSON without secrets, of which the middle is left out if it is long. The ids
    of the calls are left out; the result is empty if there is nothing else."""
    shown = dict(fields.message)
    calls = [{name: value for name, value in call.items() if name != "id"} for call in fields.calls]
    if any(calls):
        shown["tool_calls"] = calls
    if not shown:
        return ""
    text = _dump(shown)
    if _may_have_secrets(text, secret):
        # Before it is shortened: of a secret that is cut in two, each half would stay.
        text = remove_secrets(_dump(_remove_from_texts(shown, secret)), secret)
    return _shorten(text)
