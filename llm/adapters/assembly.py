"""Assemble an answer from the chunks of a stream: text, thinking, and tool calls, whose parts may arrive in any order."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from events.payloads import MAX_TEXT
from llm.messages import Chunk, ProviderFields, ToolCall
from llm.protocol import LLMError

MAX_CALLS_OF_ANSWER = 16
"""Calls of one answer that are made. One more is kept, so that the model reads that it was refused; others are dropped."""
MAX_ARGUMENT_CHARACTERS = 1024 * 1024
"""Characters of the arguments of all calls of one answer."""
MAX_FIELD_CHARACTERS = 200_000
"""Characters of the fields of one answer that its provider may require later. An answer with more is kept without them."""
MAX_PARSE_ATTEMPTS = 32
"""How often the arguments of a call are parsed to find out whether they are complete."""

_BROKEN_OFF = re.compile(r"abort|cancel|error|fail|insufficient|interrupt|malformed|overload|time_?out")
"""Finish reasons of answers that are not complete, such as `error`, `abort` or `insufficient_system_resource`."""
_CALL_KEYS = frozenset({"index", "id", "type", "function"})
_FUNCTION_KEYS = frozenset({"name", "arguments"})
_PARTIAL_TEXTS = ("text", "summary", "thinking")
"""The fields of an item of thinking that arrive in parts."""


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
    is_named_again: bool = False
    is_id_repeated: bool = False
    parse_attempts: int = 0
    fields: dict[str, Any] = field(default_factory=dict)

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

    def may_continue_with(self, part: str) -> bool:
        """Return whether this part may be the next one of the arguments. An object begins within others only at some places."""
        if not part.lstrip().startswith("{") or self.parse_attempts >= MAX_PARSE_ATTEMPTS:
            return True
        self.parse_attempts += 1
        text = "".join([*self.parts, part]).rstrip()
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            # Before the end of the text, other errors are also those of arguments that are not complete yet.
            is_misplaced = error.msg.endswith("delimiter") or error.msg.startswith("Expecting property name")
            return not is_misplaced or error.pos >= len(text)
        except RecursionError:
            return True
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
        self._message_fields: dict[str, Any] = {}
        self._has_too_many_fields = False
        self._sizes = {"text": 0, "thinking": 0, "arguments": 0, "fields": 0}
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
        position, is_new = self._find_or_add_call(delta.get("index"), str(delta.get("id") or ""), name, arguments)
        if position is None:
            return None
        arguments = self._cut_to_limit("arguments", arguments, MAX_ARGUMENT_CHARACTERS)
        builder = self._call_builders[position]
        # The name may be in a later delta than the first one of the call.
        begins_or_is_named = is_new or bool(name and not builder.name)
        builder.name = builder.name or name
        builder.add_arguments(arguments)
        fields = {name: value for name, value in delta.items() if name not in _CALL_KEYS}
        if of_function := {name: value for name, value in function.items() if name not in _FUNCTION_KEYS}:
            fields["function"] = of_function
        self._add_fields(builder.fields, fields)
        if not begins_or_is_named and not arguments:
            return None
        return Chunk("arguments", arguments, index=position, name=builder.name if begins_or_is_named else None)

    def add_message_fields(self, fields: Mapping[str, Any]) -> None:
        """Add fields of the answer that its provider may require later. Lists, and the texts of their items, arrive in parts."""
        self._add_fields(self._message_fields, fields)

    def _add_fields(self, target: dict[str, Any], fields: Mapping[str, Any]) -> None:
        if self._has_too_many_fields:
            return
        size = _merge_fields(target, {name: value for name, value in fields.items() if value not in (None, "", [], {})})
        if self._sizes["fields"] + size <= MAX_FIELD_CHARACTERS and self._consume("fields", size):
            return
        # All of them: a provider refuses thinking without its signature.
        self._has_too_many_fields = True
        self._message_fields = {}
        for builder in self._call_builders:
            builder.fields = {}

    def build_provider_fields(self, origin: str) -> ProviderFields | None:
        """Return what the provider attached to the answer, or null if it attached nothing. `origin`: the model that answered."""
        calls = [
            ({"id": builder.provider_id} if builder.provider_id else {}) | builder.fields
            for builder in self._call_builders
        ]
        return ProviderFields(origin, self._message_fields, calls) if self._message_fields or any(calls) else None

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
        self, provider_index: int | None, provider_id: str, name: str, arguments: str
    ) -> tuple[int | None, bool]:
        """Return the position of the call that a delta belongs to, and whether the call is new. The position is null for a call
        beyond the maximum.

        Neither the index nor the id is reliable: some servers send index 0 for every call, no index, empty or repeated ids, or a
        new id in each delta. So a delta without a name continues a call of its index: the one with its id, if there is one.
        """
        same_index = [
            position
            for position, builder in enumerate(self._call_builders)
            if provider_index is None or builder.provider_index in (None, provider_index)
        ]
        same_id = [position for position in same_index if self._call_builders[position].provider_id == provider_id]
        begins_with = name
        if same_index:
            position = same_id[-1] if provider_id and same_id else same_index[-1]
            builder = self._call_builders[position]
            if not _begins_next_call(builder, provider_id, name, arguments):
                builder.is_id_repeated |= bool(provider_id) and provider_id == builder.provider_id
                builder.provider_id = builder.provider_id or provider_id
                return position, False
            begins_with = name or builder.name
        if len(self._call_builders) > MAX_CALLS_OF_ANSWER:
            return None, False
        self._call_builders.append(_CallBuilder(provider_index, provider_id, begins_with))
        return len(self._call_builders) - 1, True

    def _cut_to_limit(self, part: str, text: str, limit: int) -> str:
        """Return the beginning of the text that the limits of this part and of the process allow, and count it for both."""
        available = limit - self._sizes[part]
        if len(text) > available:
            text, self.is_too_long = text[:available], True
        if self._consume(part, len(text)):
            return text
        self.is_too_long = True
        return ""

    def _consume(self, part: str, size: int) -> bool:
        """Count characters for this part and for the process. Return false, and count nothing, if the process has too few left."""
        total = sum(self._sizes.values()) + size
        wanted = max(0, total - CharacterBudget.OWN_SHARE_CHARACTERS) - self._consumed
        if wanted > 0 and not budget.consume(wanted):
            return False
        self._consumed += max(0, wanted)
        self._sizes[part] += size
        return True

    def release(self) -> None:
        """Return the consumed characters to the budget of the process."""
        budget.left += self._consumed
        self._consumed = 0


def _merge_fields(target: dict[str, Any], fields: Mapping[str, Any]) -> int:
    """Add fields to those that arrived before: objects are merged, lists joined, other values replaced. Return how many characters
    were added."""
    added = 0
    for name, value in fields.items():
        present = target.get(name)
        if isinstance(value, dict) and isinstance(present, dict):
            added += _merge_fields(present, value)
        elif isinstance(value, list):
            if not isinstance(present, list):
                present = target[name] = []
            added += sum(_append_item(present, item) for item in value)
        elif value is not None and value != present:
            target[name] = value
            added += _count_characters(value)
    return added


def _append_item(items: list[Any], item: Any) -> int:
    """Append an item of thinking to a list, or the next part of its last item, which a signature completes. Return how many
    characters were added."""
    last: Any = items[-1] if items else None
    is_next_part = (
        isinstance(item, dict)
        and isinstance(last, dict)
        and (item.get("type"), item.get("index")) == (last.get("type"), last.get("index"))
        and not last.get("signature")
        and any(name in item for name in _PARTIAL_TEXTS)
    )
    if not is_next_part:
        items.append(dict(item) if isinstance(item, dict) else item)
        return _count_characters(item)
    added = 0
    for name, value in item.items():
        if name in _PARTIAL_TEXTS and isinstance(value, str):
            last[name] = f"{last.get(name) or ''}{value}"
            added += len(value)
        elif value is not None and value != last.get(name):
            last[name] = value
            added += _count_characters(value)
    return added


def _count_characters(value: Any) -> int:
    return len(json.dumps(value, ensure_ascii=False))


def _begins_next_call(builder: _CallBuilder, provider_id: str, name: str, arguments: str) -> bool:
    """Return whether a delta is the first one of the call after `builder`'s, although it has the same index: it has a name after
    complete arguments, or another id and a name while those are not complete. Some servers repeat the name in each delta of a call,
    and a few send a new id with it."""
    if not builder.name:
        return False
    if not name:
        return builder.is_named_again and bool(arguments.strip()) and builder.has_complete_arguments()
    has_other_id = bool(provider_id and builder.provider_id) and provider_id != builder.provider_id
    if has_other_id and name != builder.name:
        return True
    if has_other_id and not arguments and not any(part.strip() for part in builder.parts):
        return True  # two calls without arguments
    if has_other_id and (builder.is_id_repeated or not builder.may_continue_with(arguments)):
        return True  # two interleaved calls
    if not builder.has_complete_arguments():
        return False
    # The same name without arguments may be a repetition, or the next call, whose arguments follow without a name.
    builder.is_named_again = True
    return has_other_id or name != builder.name or bool(arguments.strip())


def normalize_finish(finish: str, *, has_calls: bool) -> str:
    """Return the finish reason of an `Answer` for that of the provider. Raises `LLMError` (`cut`) for an answer that its server has
    broken off."""
    if _BROKEN_OFF.search(str(finish).lower()):
        raise build_cut_error()
    if finish in ("length", "content_filter"):
        return finish
    if finish in ("max_tokens", "model_length"):
        return "length"
    return "tool_calls" if has_calls else "stop"


def build_cut_error() -> LLMError:
    """Return the error of an answer that is not complete."""
    return LLMError("cut", "The model's answer broke off before its end.", retryable=True)
