"""Build the entries of a conversation from the stored messages of a chat."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

from django.utils.crypto import salted_hmac

from actors.models import Actor, Kind
from context.transcript import LogEntry, LogEntryType, Participant
from events.payloads import TEXT_KINDS
from files.models import File
from files.selectors import find_short_texts, read_if_stored
from llm.messages import Image
from llm.tokens import estimate_tokens
from tools.fence import fence_lines

LOG_COLUMNS = ("id", "type", "author_id", "payload", "run_id", "reply_to_id", "seq", "tokens", "group_seq")
"""The columns of the messages from which entries are built."""
MAX_IMAGES = 8
"""Images of one conversation."""
MAX_FILE_TEXTS = 8
"""Files of one conversation whose text it contains."""
MAX_FILE_CHARACTERS = 32_000
"""Characters of the texts of files in one conversation."""
FILE_TEXTS_DIVISOR = 4
"""They have at most a quarter as many characters as the model reads tokens: a Chinese character may be a token."""


def build_entry(row: Sequence[Any]) -> LogEntry:
    """Return the `LogEntry` of a message, of which `row` has the `LOG_COLUMNS`.

    The text that wakes an agent by hand or by a schedule, and the question of a comparison, are system messages, which have no
    author. They count as texts of the person in `actor_id`.
    """
    id, type_, author_id, payload, run_id, reply_to, seq, tokens, group_seq = row
    if tokens is None:
        tokens = estimate_tokens(payload.get("text", ""))
    if type_ == "AGENT_WOKEN":
        text = {"text": _build_woken_text(payload)}
        return LogEntry(id, "TEXT_MESSAGE", UUID(payload["actor_id"]), text, seq=seq, tokens=tokens)
    if type_ == "COMPARISON":
        return LogEntry(id, "TEXT_MESSAGE", UUID(payload["actor_id"]), payload, seq=seq, tokens=tokens)
    return LogEntry(
        id, cast(LogEntryType, type_), author_id, payload, run_id, reply_to, seq=seq, tokens=tokens, group_seq=group_seq
    )


def _build_woken_text(payload: Mapping[str, Any]) -> str:
    """Return the text that an agent reads when a person or a schedule has woken it."""
    if payload.get("reason") == "schedule":
        return f"[The schedule “{' '.join(payload['name'].split())}” wakes you. It asks you to do this:]\n{payload['text']}"
    return "[I wake you by hand: look at this chat again, and answer what is still open. If nothing is, say so in one sentence.]"


def is_read_by(row: Sequence[Any], agent_id: UUID) -> bool:
    """Return whether the agent reads the message with these `LOG_COLUMNS`. Only an agent that was woken reads that it was."""
    _, type_, _, payload, *_ = row
    return bool(type_ != "AGENT_WOKEN" or payload.get("target_id") == str(agent_id))


def get_side(entry: LogEntry) -> str | None:
    """Return the side of a comparison whose run wrote this, if any."""
    side: str | None = (entry.payload.get("stamp") or {}).get("side")
    return side


def add_images(entries: list[LogEntry]) -> list[LogEntry]:
    """Return the entries, and add thumbnails to the newest `MAX_IMAGES` images. Without images, no query is made."""
    ids = [entry.id for entry in entries if entry.type == "FILE_MESSAGE" and entry.payload.get("has_thumbnail")]
    images: dict[UUID, Image] = {}
    for file in File.objects.filter(pk__in=ids[-MAX_IMAGES:], deleted_at=None) if ids else ():
        content = read_if_stored(file.thumbnail)
        if content is not None:
            images[file.id] = Image("image/webp", content)
    return [replace(entry, image=images[entry.id]) if entry.id in images else entry for entry in entries]


def add_file_texts(entries: list[LogEntry], model_size: int) -> list[LogEntry]:
    """Return the entries, and add their whole texts to the newest `MAX_FILE_TEXTS` files, as far as these are short and fit
    together. Without such files, no query is made. `model_size`: the most tokens that the run may read."""
    ids = [
        entry.id
        for entry in entries
        if entry.type == "FILE_MESSAGE" and entry.payload["kind"] in TEXT_KINDS and not entry.payload.get("is_deleted")
    ]
    texts: dict[UUID, str] = {}
    left = min(MAX_FILE_CHARACTERS, model_size // FILE_TEXTS_DIVISOR)
    found = find_short_texts(ids[-MAX_FILE_TEXTS:]) if ids else {}
    for id in reversed(ids):
        if id in found and len(found[id]) <= left:
            texts[id] = _fence_file_text(id, found[id])
            left -= len(found[id])
    return [
        replace(entry, file_text=texts[entry.id], tokens=entry.tokens + estimate_tokens(texts[entry.id]))
        if entry.id in texts
        else entry
        for entry in entries
    ]


def _fence_file_text(id: UUID, text: str) -> str:
    # The mark depends on the file alone, so that a provider can cache the conversation. The author of the file cannot compute it.
    mark = salted_hmac("context.file_text", str(id)).hexdigest()[:12]
    authors, citation = "the author of this file", "the name of the file"
    return "\n".join(fence_lines("file", text.splitlines(), authors=authors, citation=citation, mark=mark))


def build_participant(actor: Actor, role: str = "") -> Participant:
    """Return the participant that the model reads about."""
    return Participant(actor.id, actor.name, actor.handle, is_agent=actor.is_agent, role=role)


def parse_participant(row: Mapping[str, Any]) -> Participant:
    """Return the participant that a query has read as JSON."""
    is_agent = row["kind"] == Kind.AGENT
    return Participant(UUID(row["id"]), row["name"], row["handle"], is_agent=is_agent, role=row["role"] or "")
