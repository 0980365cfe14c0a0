"""Assemble an answer from the chunks of a stream: text, thinking, and tool calls, whose parts may arrive in any order."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from events.payloads import MAX_TEXT
from llm.messages import Chunk, ToolCall

MAX_CALLS_OF_ANSWER = 16
"""Calls of one answer that are made. One more is kept, so that the model reads that it was refused; others are dropped."""
MAX_ARGUMENT_CHARACTERS = 1024 * 1024
"""Characters of the arguments of all calls of one answer."""
MAX_PARSE_ATTEMPTS = 32
"""How often the arguments of a call are parsed to find out whether they are complete."""


class CharacterBudget:
    """Limits the characters in memory of all answers of this process, beyond `OWN_SHARE_CHARACTERS` for each answer (FAIR5)."""

    OWN_SHARE_CHARACTERS = 32 * 1024
    TOTAL_CHARACTERS = 32 * 1024 * 1024

    def __init__(self) -> None:
        self.left = self.TOTAL_CHARACTERS

    def consume(self, size: int) -> bool:
        """Consume `size` characters. Return false, and consume nothing, if fewer are left."""
        if size > self.left:
            return False
        self.left -= size
        return True


budget = CharacterBudget()
"""The budget of this process, used from its event loop only."""


@dataclass
class _CallBuilder:
    """A call whose parts are still arriving, with the index and the id that the provider gave it, if any."""

    provider_index: int | None
    provider_id: str
    name: str = ""
    parts: list[str] = field(default_factory=list)
    ends_with_brace: bool = False
    parse_attempts: int = 0

    def add_arguments(self, part: str) -> None:
        """Add the next part of the arguments, which may be empty or blank."""
        self.parts.append(part)
        if stripped := part.rstrip():
            self.ends_with_brace = stripped.endswith("}")

    def has_complete_arguments(self) -> bool:
        """Return whether the arguments so far are a complete JSON object."""
        if not self.ends_with_brace or self.parse_attempts >= MAX_PARSE_ATTEMPTS:
            return False
        self.parse_attempts += 1
        try:
            json.loads("".join(self.parts))
        except (ValueError, RecursionError):
            return False
        return True


class Assembly:
    """Collects the chunks of one answer. Each `add_…` method returns the `Chunk` to pass on, or null.

    An answer that is too long to be stored, or that exceeds the `budget` of the process, is shortened: `is_too_long` is set, and
    the adapter stops reading. `release` must be called when the assembly is not needed any more.
    """

    def __init__(self) -> None:
        self.finish: str | None = None
        self.is_too_long = False
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._call_builders: list[_CallBuilder] = []
        self._sizes = {"text": 0, "thinking": 0, "arguments": 0}
        self._consumed = 0

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        return "".join(self._thinking)

    def add_text(self, text: str) -> Chunk:
        text = self._cut_to_limit("text", text, MAX_TEXT)
        self._text.append(text)
        return Chunk("text", text)

    def add_thinking(self, text: str) -> Chunk:
        text = self._cut_to_limit("thinking", text, MAX_TEXT)
        self._thinking.append(text)
        return Chunk("thinking", text)

    def add_call(self, delta: Mapping[str, Any]) -> Chunk | None:
        """Add one entry of `delta.tool_calls`."""
        function = delta.get("function") or {}
        name = str(function.get("name") or "")
        arguments = function.get("arguments")
        if not isinstance(arguments, str):  # some servers send an object instead of its text
            arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
        position, is_new = self._find_or_add_call(
            delta.get("index"), str(delta.get("id") or ""), begins=bool(name and arguments)
        )
        if position is None:
            return None
        arguments = self._cut_to_limit("arguments", arguments, MAX_ARGUMENT_CHARACTERS)
        builder = self._call_builders[position]
        # The name may be in a later delta than the first one of the call.
        begins_or_is_named = is_new or bool(name and not builder.name)
        builder.name = builder.name or name
        builder.add_arguments(arguments)
        if not begins_or_is_named and not arguments:
            return None
        return Chunk("arguments", arguments, index=position, name=builder.name if begins_or_is_named else None)

    def build_calls(self) -> tuple[ToolCall, ...]:
        """Return the calls in the order in which they began. `id` is empty: `runs/runtime/loop.py` sets it."""
        return tuple(
            ToolCall(
                id="",
                name=builder.name,
                arguments="".join(builder.parts),
                index=position,
                provider_id=builder.provider_id,
            )
            for position, builder in enumerate(self._call_builders)
        )

    def _find_or_add_call(
        self, provider_index: int | None, provider_id: str, *, begins: bool
    ) -> tuple[int | None, bool]:
        """Return the position of the call that a delta belongs to, and whether the call is new. The position is null for a call
        beyond the maximum. `begins`: the delta has a name and arguments.

        Neither the index nor the id is reliable: some servers send index 0 for every call, empty or repeated ids, or no index.
        """
        for position in reversed(range(len(self._call_builders))):
            builder = self._call_builders[position]
            if not _is_same_call(builder, provider_index, provider_id):
                continue
            if begins and not provider_id and builder.has_complete_arguments():
                break  # a name after complete arguments begins the next call, with the same index
            builder.provider_id = builder.provider_id or provider_id
            return position, False
        if len(self._call_builders) > MAX_CALLS_OF_ANSWER:
            return None, False
        self._call_builders.append(_CallBuilder(provider_index, provider_id))
        return len(self._call_builders) - 1, True

    def _cut_to_limit(self, part: str, text: str, limit: int) -> str:
        """Return the beginning of the text that the limits of this part and of the process allow, and count it for both."""
        available = limit - self._sizes[part]
        if len(text) > available:
            text, self.is_too_long = text[:available], True
        size = sum(self._sizes.values()) + len(text)
        wanted = max(0, size - CharacterBudget.OWN_SHARE_CHARACTERS) - self._consumed
        if wanted > 0 and not budget.consume(wanted):
            self.is_too_long = True
            return ""
        self._consumed += max(0, wanted)
        self._sizes[part] += len(text)
        return text

    def release(self) -> None:
        """Return the consumed characters to the budget of the process."""
        budget.left += self._consumed
        self._consumed = 0


def _is_same_call(builder: _CallBuilder, provider_index: int | None, provider_id: str) -> bool:
    if provider_id and builder.provider_id and provider_id != builder.provider_id:
        return False
    return provider_index is None or builder.provider_index is None or provider_index == builder.provider_index


def normalize_finish(finish: str, *, has_calls: bool) -> str:
    """Return the finish reason of an `Answer` for that of the provider."""
    if finish in ("length", "content_filter"):
        return finish
    if finish == "max_tokens":
        return "length"
    return "tool_calls" if has_calls else "stop"
