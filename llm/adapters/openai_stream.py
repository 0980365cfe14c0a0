"""Parse the body of an OpenAI response into chunks."""

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, overload

from pydantic_core import from_json

from common.secrets import Secret
from llm.adapters.assembly import Assembly
from llm.adapters.surrogates import HalfJoiner, parse_loosely
from llm.adapters.thinking_tags import ThinkingTags
from llm.errors import build_stream_error, build_text_error, find_error
from llm.messages import Chunk, ChunkPart, ProviderFields
from llm.protocol import LLMError

MAX_LINE_BYTES = 256 * 1024
"""Bytes of one line, and of all lines of one event."""
MAX_LINES_TRIED = 8
"""An event of more lines is parsed only at its end."""
MAX_OTHER_BYTES = 4 * 1024
"""Bytes that are kept of a body without events, for the message."""
MAX_DOCUMENT_BYTES = 4 * 1024 * 1024
"""Bytes of an answer by a server that does not stream."""

_FIELD = re.compile(rb"(:|(event|id|retry|data)(:|$))")
"""A comment or a field of an event."""


class OpenAIStream:
    """Parses a body that arrives in parts of any size. `done` is set after `[DONE]`; `usage` and `model` are those of the server.

    `assembly.finish` is the last finish reason. `goes_on_after_finish`: text or a call came after a finish reason. Some servers
    send a reason in every event, so a reason alone does not end the answer. `thinking_field`: the field that has brought the
    thinking.

    A server that does not stream sends one JSON document; an address at which there is no model sends a web page. Both are
    recognised by their first character, because the headers are sometimes wrong.
    """

    def __init__(self, key: Secret) -> None:
        self.assembly = Assembly()
        self.done = False
        self.goes_on_after_finish = False
        self.usage: Mapping[str, Any] | None = None
        self.model = ""
        self.thinking_field = ""
        self._key = key
        self._is_document: bool | None = None
        self._buffer_parts: list[bytes] = []
        self._buffered_bytes = 0
        self._ends_with_cr = False
        self._data_lines: list[bytes] = []
        """The lines of the event that is being read."""
        self._event_bytes = 0
        self._has_events = False
        self._other_text = b""
        """The beginning of a body that has no events."""
        self._tags = ThinkingTags()
        self._halves = HalfJoiner()

    def read_bytes(self, data: bytes) -> Iterator[Chunk]:
        """Yield the chunks that these bytes complete. Raises `LLMError`."""
        data = self._normalize_line_ends(data)
        if self._is_document is None and (begin := data.removeprefix(codecs.BOM_UTF8).lstrip()[:1]):
            self._is_document = begin in (b"{", b"<")
        # Parts are joined only at the end of a line, so that the time is linear in the number of bytes.
        if self._is_document or b"\n" not in data:
            self._buffer(data)
            return
        *lines, rest = data.split(b"\n")
        lines[0] = self._drain_buffer(lines[0])
        self._buffer(rest)
        if not self._has_events:
            lines[0] = lines[0].removeprefix(codecs.BOM_UTF8)
        for line in lines:
            yield from _check_shape(self._read_line(line))

    def _normalize_line_ends(self, data: bytes) -> bytes:
        """Return the bytes with line feeds only. A carriage return and a line feed, which may be in two parts, are one line end."""
        if self._ends_with_cr and data.startswith(b"\n"):
            data = data[1:]
            self._ends_with_cr = False
        if data:
            self._ends_with_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data

    def _read_line(self, line: bytes) -> Iterator[Chunk]:
        """Yield the chunks of an event if this line completes it. Comments, names and ids of events are ignored.

        An event ends with an empty line. Some servers leave that out, so a line that is a whole JSON document is an event, too.
        """
        if line.startswith(b"data:"):
            part = line[5:].strip()
            self._data_lines.append(part)
            self._event_bytes = len(part) + (self._event_bytes if len(self._data_lines) > 1 else 0)
            if self._event_bytes > MAX_LINE_BYTES:
                raise LLMError("garbled", "The model's server sent an endless event.")
            is_whole = part == b"[DONE]" or (part.endswith(b"}") and len(self._data_lines) <= MAX_LINES_TRIED)
            yield from self._read_event(is_complete=False) if is_whole else ()
        elif not line.strip():
            yield from self._read_event(is_complete=True)
        elif not _FIELD.match(line) and not self._has_events:
            self._other_text = (self._other_text + line)[:MAX_OTHER_BYTES]

    def _buffer(self, data: bytes) -> None:
        self._buffer_parts.append(data)
        self._buffered_bytes += len(data)
        if self._buffered_bytes > (MAX_DOCUMENT_BYTES if self._is_document else MAX_LINE_BYTES):
            raise LLMError("garbled", "The model's server sent an endless line.")

    def _drain_buffer(self, data: bytes) -> bytes:
        """Return the buffered bytes followed by `data`, and empty the buffer."""
        parts, self._buffer_parts, self._buffered_bytes = [*self._buffer_parts, data], [], 0
        return b"".join(parts)

    def finish(self) -> Iterator[Chunk]:
        """Yield the chunks of what is buffered at the end of the body: the document, an unfinished line, or a part of a text."""
        yield from self._finish_body()
        yield from self._add_parts(self._halves.finish("thinking"), "")
        yield from self._read_text(self._halves.finish("text"))
        yield from self._add_parts(*self._tags.finish())

    def _finish_body(self) -> Iterator[Chunk]:
        if self._is_document:
            yield from _check_shape(self._read_document(self._drain_buffer(b"")))
            return
        try:
            yield from self.read_bytes(b"\n\n")
        except LLMError as error:
            # The line is incomplete because the answer broke off. The missing `finish_reason` reports that.
            if error.code != "garbled":
                raise
            if self.goes_on_after_finish:
                self.assembly.finish = None
        if self._other_text and not self._has_events:
            raise build_text_error(self._other_text, self._key)

    def _read_document(self, body: bytes) -> Iterator[Chunk]:
        body = body.removeprefix(codecs.BOM_UTF8).lstrip()
        if body.startswith(b"<"):
            raise build_text_error(body, self._key)
        read = self._parse(body)
        for choice in read.get("choices") or ():
            yield from self._read_delta(choice.get("message") or {})
            self.assembly.finish = choice.get("finish_reason") or "stop"
        self._save_usage(read)

    def _read_event(self, *, is_complete: bool) -> Iterator[Chunk]:
        """Yield the chunks of the lines of an event, and keep its finish reason, usage and model. Raises `LLMError` if they are no
        JSON, unless further lines may follow (not `is_complete`)."""
        payload = b"\n".join(self._data_lines).strip()
        if payload == b"[DONE]":
            self.done = self._has_events = True
            self._data_lines = []
            return
        if not payload:
            self._data_lines = []
            return
        event = self._parse(payload, may_be_incomplete=not is_complete)
        if event is None:
            return
        self._data_lines, self._has_events = [], True
        choices = event.get("choices")
        if choices:
            choice = choices[0]
            delta = choice.get("delta")
            if delta:
                is_finished = self.assembly.finish is not None
                for chunk in self._read_delta(delta):
                    self.goes_on_after_finish |= is_finished and chunk.part != "thinking"
                    yield chunk
            if finish := choice.get("finish_reason"):
                self.assembly.finish = finish
        self._save_usage(event)

    def _read_delta(self, delta: Mapping[str, Any]) -> Iterator[Chunk]:
        for name in ("reasoning_content", "reasoning"):
            if thinking := delta.get(name):
                self.thinking_field = name
                yield self.assembly.add_thinking(self._halves.join("thinking", str(thinking)))
                break
        if details := delta.get("reasoning_details"):
            self.assembly.add_message_fields({"reasoning_details": list(details)})
        if content := delta.get("content"):
            for part, text in [("text", content)] if isinstance(content, str) else _list_parts(content):
                if part == "thinking":
                    yield self.assembly.add_thinking(self._halves.join("thinking", text))
                else:
                    yield from self._read_text(self._halves.join("text", text))
        if refusal := delta.get("refusal"):
            yield from self._read_text(self._halves.join("text", str(refusal)))
        for call in delta.get("tool_calls") or ():
            if chunk := self.assembly.add_call(self._clean_call(call)):
                yield chunk

    def _clean_call(self, call: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a part of a call with whole characters in its arguments."""
        function = call.get("function") or {}
        if not self._halves.is_active or not isinstance(arguments := function.get("arguments"), str):
            return call
        joined = self._halves.join(f"arguments {call.get('index')}", arguments)
        return {**call, "function": {**function, "arguments": joined}}

    def _read_text(self, text: str) -> Iterator[Chunk]:
        """Yield the chunks of a part of the text, some of which may be thinking."""
        yield from self._add_parts(*(("", text) if self._tags.is_reading_text else self._tags.read(text)))

    def _add_parts(self, thinking: str, text: str) -> Iterator[Chunk]:
        if thinking:
            yield self.assembly.add_thinking(thinking)
        if text:
            yield self.assembly.add_text(text)

    def build_provider_fields(self, origin: str) -> ProviderFields | None:
        """Return what the server attached to the answer, with its thinking, or null."""
        fields = self.assembly.build_provider_fields(origin)
        if not self.thinking_field or (fields and "reasoning_details" in fields.message):
            return fields
        thinking = {self.thinking_field: self.assembly.thinking}
        return replace(fields, message=fields.message | thinking) if fields else ProviderFields(origin, thinking)

    def _save_usage(self, event: Mapping[str, Any]) -> None:
        if usage := event.get("usage"):
            self.usage = usage
        if not self.model:
            self.model = str(event.get("model") or "")

    @overload
    def _parse(self, payload: bytes) -> dict[str, Any]: ...
    @overload
    def _parse(self, payload: bytes, *, may_be_incomplete: bool) -> dict[str, Any] | None: ...
    def _parse(self, payload: bytes, *, may_be_incomplete: bool = False) -> dict[str, Any] | None:
        """Return the JSON object; null if it is not complete and need not be. Raises `LLMError`, also for one that is an error."""
        try:
            read = from_json(payload)
        except ValueError:
            try:
                read = parse_loosely(payload)
            except ValueError as error:
                if may_be_incomplete:
                    return None
                raise LLMError("garbled", "The model's server sent broken JSON.", retryable=True) from error
            self._halves.is_active = True
        if not isinstance(read, dict):
            raise LLMError("garbled", "The model's server sent something that is no answer.", retryable=True)
        if found := find_error(read):
            raise build_stream_error(found, self._key)
        return read


def _check_shape(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Yield the chunks. Raises `LLMError` for a document that is not shaped like an answer."""
    try:
        yield from chunks
    except (AttributeError, KeyError, TypeError, IndexError) as error:
        raise LLMError("garbled", "The model's server sent something that is no answer.", retryable=True) from error


def _list_parts(content: Any) -> Iterator[tuple[ChunkPart, str]]:
    """Yield the parts of a content that is no single text. A part without a text is left out."""
    for part in [content] if isinstance(content, Mapping) else content:
        if isinstance(part, str):
            yield "text", part
        elif isinstance(part, Mapping):
            kind = str(part.get("type") or "")
            is_thinking = kind.startswith(("thinking", "reasoning"))
            names = ("thinking", "reasoning", "text", "summary") if is_thinking else ("text", "refusal")
            if text := next((part[name] for name in names if part.get(name)), None):
                texts = [text] if isinstance(text, str) else [text for _, text in _list_parts(text)]
                yield "thinking" if is_thinking else "text", "".join(texts)
