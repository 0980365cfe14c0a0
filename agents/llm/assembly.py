"""An answer put together from the stream of any wire: text, thinking, and tool calls that may come in any disorder."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.llm.exchange import Piece, ToolCall
from agents.llm.protocol import LLMError

MAX_ANSWER = 8 * 1024 * 1024
"""Characters of one answer, all parts together; more is not an answer."""


@dataclass
class _Slot:
    """A call in the making. `key` is the index the provider gave."""

    key: int | None
    provider_id: str
    name: str = ""
    parts: list[str] = field(default_factory=list)

    def is_whole(self) -> bool:
        """Do the arguments so far form a complete JSON object?"""
        if not self.parts or not self.parts[-1].rstrip().endswith("}"):
            return False
        try:
            json.loads("".join(self.parts))
        except ValueError:
            return False
        return True


class Assembly:
    """Collects the pieces of one answer. Each method returns the `Piece` to pass on, None when there is none."""

    def __init__(self) -> None:
        self.finish: str | None = None
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._slots: list[_Slot] = []
        self._size = 0

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        return "".join(self._thinking)

    def add_text(self, text: str) -> Piece:
        self._grow(text)
        self._text.append(text)
        return Piece("text", text)

    def add_thinking(self, text: str) -> Piece:
        self._grow(text)
        self._thinking.append(text)
        return Piece("thinking", text)

    def add_call(self, delta: Mapping[str, Any]) -> Piece | None:
        """Takes one entry of `delta.tool_calls`."""
        function = delta.get("function") or {}
        name = str(function.get("name") or "")
        arguments = _as_text(function.get("arguments"))
        self._grow(arguments)
        place, fresh = self._place(delta.get("index"), str(delta.get("id") or ""), begins=bool(name and arguments))
        slot = self._slots[place]
        if not slot.name:
            slot.name, fresh = name, fresh or bool(name)
        slot.parts.append(arguments)
        if not fresh and not arguments:
            return None
        return Piece("arguments", arguments, index=place, name=slot.name if fresh else None)

    def calls(self) -> tuple[ToolCall, ...]:
        """The calls in the order they began. Their own ids are given by the loop."""
        return tuple(
            ToolCall(id="", name=slot.name, arguments="".join(slot.parts), index=place, provider_id=slot.provider_id)
            for place, slot in enumerate(self._slots)
        )

    def _place(self, key: int | None, provider_id: str, *, begins: bool) -> tuple[int, bool]:
        """Which call a delta belongs to, and whether it is a new one. `begins`: it brings a name and arguments.

        Neither the index nor the id can be trusted alone: there are servers that give every call index 0, that leave
        ids empty or repeat them, or that send no index at all.
        """
        for place in reversed(range(len(self._slots))):
            slot = self._slots[place]
            if not _same(slot, key, provider_id):
                continue
            if begins and not provider_id and slot.is_whole():
                break  # a name again after whole arguments: the next call, under the same index
            slot.provider_id = slot.provider_id or provider_id
            return place, False
        self._slots.append(_Slot(key, provider_id))
        return len(self._slots) - 1, True

    def _grow(self, text: str) -> None:
        self._size += len(text)
        if self._size > MAX_ANSWER:
            raise LLMError("garbled", "The model's answer is too large.")


def _same(slot: _Slot, key: int | None, provider_id: str) -> bool:
    if provider_id and slot.provider_id and provider_id != slot.provider_id:
        return False
    return key is None or slot.key is None or key == slot.key


def _as_text(arguments: Any) -> str:
    """Arguments are JSON text; some servers send the object itself."""
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def normal_finish(finish: str, *, called: bool) -> str:
    """The provider's word for the end as one of ours: `stop`, `tool_calls`, `length`, `content_filter`."""
    if finish in ("length", "content_filter"):
        return finish
    if finish == "max_tokens":
        return "length"
    return "tool_calls" if called else "stop"
