"""The bytes of an OpenAI answer read into chunks. Pure: no socket, no clock."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import from_json

from common.secrets import Secret
from llm.adapters.assembly import Assembly
from llm.errors import error_of_frame
from llm.messages import Chunk
from llm.protocol import LLMError

MAX_LINE = 256 * 1024
"""Bytes of one event."""
MAX_DOCUMENT = 4 * 1024 * 1024
"""Bytes of an answer by a server that does not stream."""


class OpenAIStream:
    """Takes the body as it arrives, cut anywhere. `done` after `[DONE]`; `usage` and `model` as the server said them.

    A server that does not stream sends one JSON document: that is told by its first character, not by the headers, which
    some get wrong.
    """

    def __init__(self, key: Secret) -> None:
        self.assembly = Assembly()
        self.done = False
        self.usage: Mapping[str, Any] | None = None
        self.model = ""
        self._key = key
        self._whole: bool | None = None
        self._parts: list[bytes] = []
        self._held = 0

    def feed(self, data: bytes) -> Iterator[Chunk]:
        """The chunks that these bytes complete. Raises `LLMError`."""
        if self._whole is None and (begin := data.lstrip()[:1]):
            self._whole = begin == b"{"
        # Parts are joined only when a line ends: what a byte costs does not depend on how many came before it.
        if self._whole or b"\n" not in data:
            self._hold(data)
            return
        *lines, rest = data.split(b"\n")
        lines[0] = self._joined_with(lines[0])
        self._hold(rest)
        for line in lines:
            # Comments, event names and ids say nothing here; each `data:` line is a whole JSON document.
            if line.startswith(b"data:"):
                yield from _read(self._event(line[5:].strip()))

    def _hold(self, data: bytes) -> None:
        self._parts.append(data)
        self._held += len(data)
        if self._held > (MAX_DOCUMENT if self._whole else MAX_LINE):
            raise LLMError("garbled", "The model's server sent an endless line.")

    def _joined_with(self, data: bytes) -> bytes:
        """What was held, with this behind it; nothing is held any more."""
        parts, self._parts, self._held = [*self._parts, data], [], 0
        return b"".join(parts)

    def feed_end(self) -> Iterator[Chunk]:
        """The stream has ended: what is left is the whole document, or a last line without its end."""
        if self._whole:
            yield from _read(self._document(self._joined_with(b"")))
            return
        try:
            yield from self.feed(b"\n")
        except LLMError as error:
            # Half a line: the answer broke off in the middle of it, which its missing end says.
            if error.code != "garbled":
                raise

    def _document(self, body: bytes) -> Iterator[Chunk]:
        read = self._parsed(body)
        for choice in read.get("choices") or ():
            yield from self._delta(choice.get("message") or {})
            self.assembly.finish = choice.get("finish_reason") or "stop"
        self._note(read)

    def _event(self, payload: bytes) -> Iterator[Chunk]:
        if payload == b"[DONE]":
            self.done = True
            return
        if not payload:
            return
        event = self._parsed(payload)
        choices = event.get("choices")
        if choices:
            choice = choices[0]
            delta = choice.get("delta")
            if delta:
                yield from self._delta(delta)
            if finish := choice.get("finish_reason"):
                self.assembly.finish = finish
        self._note(event)

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[Chunk]:
        content = delta.get("content")
        if content:
            yield self.assembly.add_text(content if isinstance(content, str) else _joined(content))
            return
        if thinking := delta.get("reasoning_content") or delta.get("reasoning"):
            yield self.assembly.add_thinking(str(thinking))
        for call in delta.get("tool_calls") or ():
            if chunk := self.assembly.add_call(call):
                yield chunk

    def _note(self, event: Mapping[str, Any]) -> None:
        if usage := event.get("usage"):
            self.usage = usage
        if not self.model:
            self.model = str(event.get("model") or "")

    def _parsed(self, payload: bytes) -> dict[str, Any]:
        try:
            read = from_json(payload)
        except ValueError as error:
            raise LLMError("garbled", "The model's server sent broken JSON.", retryable=True) from error
        if not isinstance(read, dict):
            raise LLMError("garbled", "The model's server sent something that is no answer.", retryable=True)
        if refusal := read.get("error"):
            raise error_of_frame(refusal, self._key)
        return read


def _read(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """The chunks; a document of another shape than an answer's is told apart from a fault of ours."""
    try:
        yield from chunks
    except (AttributeError, KeyError, TypeError, IndexError) as error:
        raise LLMError("garbled", "The model's server sent something that is no answer.", retryable=True) from error


def _joined(content: Any) -> str:
    """Content in parts, as some servers send it."""
    return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
