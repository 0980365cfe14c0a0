"""Read what runs read and did from the messages of their chats."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from django.db.models import Q
from django.db.models.fields.json import KT
from django.db.models.functions import Left

from chats.models import SPOKEN_TYPES, Message
from context.transcript import DELETED
from memory.models import HistoryEntry

MAX_READ_MESSAGES = 10
"""Messages of others that are read of one run, the newest."""
MAX_CALLS = 20
"""Calls that are read of one run, the newest. Just as many of its answers are read."""
MAX_CHARACTERS = 2_000
"""Characters of a message or an answer."""
MAX_RESULT_CHARACTERS = 300
"""Characters of the arguments and of the result of a tool call."""


@dataclass(frozen=True)
class HistoryTurn:
    """A part of what a run did: a message of another author that it read, a tool call with the beginning of its result, or a
    text that it wrote."""

    kind: Literal["message", "call", "answer"]
    message_id: UUID
    author: str
    text: str
    result: str = ""


def read_history_turns(entries: Sequence[HistoryEntry]) -> dict[UUID, list[HistoryTurn]]:
    """Return the turns of each of these entries of one agent, by its id, in the order of the log. One query. A message that was
    deleted is not among them, one that was edited has its new text, and an answer that is not in use is left out."""
    if not entries:
        return {}
    is_read = Q(pk__in=[])
    for entry in entries:
        is_read |= Q(chat=entry.chat_id, seq__range=(entry.first_seq, entry.last_seq))
    is_read &= Q(type__in=SPOKEN_TYPES, is_unused=False) & ~Q(author=entries[0].agent_id)
    own_run_ids = {entry.run_id for entry in entries}
    is_own = Q(run_id__in=own_run_ids, author=entries[0].agent_id)
    is_own &= Q(type__in=("TEXT_MESSAGE", "TOOL_CALL", "TOOL_RESPONSE"), is_unused=False)
    found = Message.objects.filter(is_read | is_own, metadata__isnull=True).order_by("chat", "seq")
    rows = list(
        found.values_list(
            "pk",
            "chat_id",
            "seq",
            "run_id",
            "type",
            "author__name",
            Left(KT("payload__text"), MAX_CHARACTERS + 1),
            KT("payload__name"),
            Left(KT("payload__arguments"), MAX_RESULT_CHARACTERS + 1),
            KT("payload__call_id"),
            KT("payload__tool_call_id"),
            KT("payload__is_deleted"),
        )
    )
    return {entry.id: _build_turns(entry, rows, own_run_ids) for entry in entries}


def _build_turns(
    entry: HistoryEntry, rows: Iterable[Sequence[Any]], own_run_ids: Collection[UUID]
) -> list[HistoryTurn]:
    """Return the turns of an entry. `own_run_ids`: the runs of its agent, whose texts are no messages of others."""
    turns: list[HistoryTurn] = []
    position_of_call: dict[str, int] = {}
    for id, chat_id, seq, run_id, type_, author, text, name, arguments, call_id, answered_call_id, is_deleted in rows:
        is_own = run_id == entry.run_id
        if chat_id != entry.chat_id or not (is_own or entry.first_seq <= seq <= entry.last_seq):
            continue
        if type_ == "TOOL_CALL" and is_own:
            position_of_call[call_id] = len(turns)
            turns.append(HistoryTurn("call", id, "", f"{name}({_cut(arguments, MAX_RESULT_CHARACTERS)})"))
        elif type_ == "TOOL_RESPONSE" and answered_call_id in position_of_call:
            position = position_of_call[answered_call_id]
            call = turns[position]
            turns[position] = HistoryTurn("call", call.message_id, "", call.text, _cut(text, MAX_RESULT_CHARACTERS))
        elif type_ in SPOKEN_TYPES and (is_own or run_id not in own_run_ids):
            if type_ == "FILE_MESSAGE":
                shown = _describe_file(name, is_deleted)
            else:
                shown = DELETED if is_deleted == "true" else _cut(text, MAX_CHARACTERS)
            turns.append(HistoryTurn("answer" if is_own else "message", id, author or "", shown))
    return _keep_newest(turns)


def _describe_file(name: str, is_deleted: str | None) -> str:
    return f"[The file “{name}” was deleted.]" if is_deleted == "true" else f"[file “{name}”]"


def _keep_newest(turns: list[HistoryTurn]) -> list[HistoryTurn]:
    left = {"message": MAX_READ_MESSAGES, "call": MAX_CALLS, "answer": MAX_CALLS}
    kept: list[HistoryTurn] = []
    for turn in reversed(turns):
        left[turn.kind] -= 1
        if left[turn.kind] >= 0:
            kept.append(turn)
    return kept[::-1]


def format_turns(turns: Iterable[HistoryTurn], limit: int) -> list[str]:
    """Return the lines of these turns for a model, each text cut to `limit` characters."""
    lines: list[str] = []
    for turn in turns:
        if turn.kind == "call":
            result = f" → {_cut(turn.result, limit)}" if turn.result else ""
            lines.append(f"You called {_cut(turn.text, limit)}{result}")
        else:
            who = "You" if turn.kind == "answer" else " ".join(turn.author.split())
            lines.append(f"{who}: {_cut(turn.text, limit)}")
    return lines


def _cut(text: str | None, limit: int) -> str:
    text = text or ""
    return text if len(text) <= limit else f"{text[:limit]}…"
