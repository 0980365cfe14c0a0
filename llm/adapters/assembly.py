"""An answer put together from the stream of any wire: text, thinking, and tool calls that may come in any disorder."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from events.payloads import MAX_TEXT
from llm.messages import Chunk, ToolCall

MAX_CALLS = 16
"""Calls of one answer that are made. One more is kept, so that the model reads that it was refused; the rest is dropped."""
MAX_CALL_TEXT = 1024 * 1024
"""Characters of the arguments of all calls of one answer."""
MAX_GUESSES = 32
"""How often one call's arguments are read to see whether they are whole."""


class Budget:
    """Characters that all answers of this process may hold at once, beyond a share that each has for itself (FAIR5)."""

    OWN_SHARE = 32 * 1024
    TOTAL = 32 * 1024 * 1024

    def __init__(self) -> None:
        self.left = self.TOTAL

    def take(self, size: int) -> bool:
        """Take so much; false, and nothing is taken, when it is not there."""
        if size > self.left:
            return False
        self.left -= size
        return True


budget = Budget()
"""This process's; used from its loop only."""


@dataclass
class _Slot:
    """A call in the making. `key` is the index the provider gave."""

    key: int | None
    provider_id: str
    name: str = ""
    parts: list[str] = field(default_factory=list)
    guesses: int = 0

    def is_whole(self) -> bool:
        """Do the arguments so far form a complete JSON object?"""
        if not self.parts or not self.parts[-1].rstrip().endswith("}") or self.guesses >= MAX_GUESSES:
            return False
        self.guesses += 1
        try:
            json.loads("".join(self.parts))
        except ValueError:
            return False
        return True


class Assembly:
    """Collects the chunks of one answer. Each method returns the `Chunk` to pass on, None when there is none.

    What is longer than can be stored is cut there: then the answer `is_full`, and its reader stops reading. `release` is
    called when it is not needed any more.
    """

    def __init__(self) -> None:
        self.finish: str | None = None
        self.is_full = False
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._slots: list[_Slot] = []
        self._sizes = {"text": 0, "thinking": 0, "arguments": 0}
        self._taken = 0

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        return "".join(self._thinking)

    def add_text(self, text: str) -> Chunk:
        text = self._cut("text", text, MAX_TEXT)
        self._text.append(text)
        return Chunk("text", text)

    def add_thinking(self, text: str) -> Chunk:
        text = self._cut("thinking", text, MAX_TEXT)
        self._thinking.append(text)
        return Chunk("thinking", text)

    def add_call(self, delta: Mapping[str, Any]) -> Chunk | None:
        """Takes one entry of `delta.tool_calls`."""
        function = delta.get("function") or {}
        name = str(function.get("name") or "")
        arguments = _as_text(function.get("arguments"))
        place, fresh = self._place(delta.get("index"), str(delta.get("id") or ""), begins=bool(name and arguments))
        if place > MAX_CALLS:
            return None
        arguments = self._cut("arguments", arguments, MAX_CALL_TEXT)
        slot = self._slots[place]
        if not slot.name:
            slot.name, fresh = name, fresh or bool(name)
        slot.parts.append(arguments)
        if not fresh and not arguments:
            return None
        return Chunk("arguments", arguments, index=place, name=slot.name if fresh else None)

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
        if len(self._slots) > MAX_CALLS:
            return len(self._slots), False
        self._slots.append(_Slot(key, provider_id))
        return len(self._slots) - 1, True

    def _cut(self, part: str, text: str, most: int) -> str:
        """Return as much of the text as there is room for, in this part and in the process."""
        room = most - self._sizes[part]
        if len(text) > room:
            text, self.is_full = text[:room], True
        size = sum(self._sizes.values()) + len(text)
        wanted = max(0, size - Budget.OWN_SHARE) - self._taken
        if wanted > 0 and not budget.take(wanted):
            self.is_full = True
            return ""
        self._taken += max(0, wanted)
        self._sizes[part] += len(text)
        return text

    def release(self) -> None:
        """Give back what it has of the process's budget."""
        budget.left += self._taken
        self._taken = 0


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
