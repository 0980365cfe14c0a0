"""Read what is older than the newest history of an agent: summaries of its other chats, or the messages that match a request."""

from collections.abc import Collection
from datetime import datetime
from typing import assert_never
from uuid import UUID

from django.db.models import Max, Min, QuerySet

from actors.models import Actor
from chats.models import Chat, Message
from chats.selectors import END
from context.retrieval import find_messages
from context.selectors import find_newest_summary, list_current_sentences
from events.payloads import ContextStrategy
from llm.tokens import estimate_tokens
from memory.models import HistoryEntry, MemoryClearing

MAX_OLDER_CHATS = 10
"""Chats of which older messages are read: those in which the agent worked last."""
MAX_FOUND = 3
"""Messages of one chat that match a request."""
MAX_CHARACTERS = 400
"""Characters of a message."""


def read_older_lines(
    agent: Actor,
    chat: Chat,
    shared: QuerySet[Chat],
    strategy: ContextStrategy,
    *,
    request: str,
    entries: Collection[HistoryEntry],
    budget: int,
) -> list[tuple[UUID, str]]:
    """Return the lines about older messages that fit into so many tokens, each with its chat: with `summarise` the sentences of the
    newest summaries, with `retrieve` the messages that match the request, with `truncate` none.

    They are of the `shared` chats in which the agent has a history in use, the newest first, and of messages after the last
    clearing. Messages of `entries`, which are read already, are not found again.
    """
    if strategy == "truncate":
        return []
    others = HistoryEntry.objects.filter(agent=agent, clearing=None, chat__in=shared.values("pk")).exclude(chat=chat.pk)
    newest = others.values("chat").annotate(last=Max("created_at")).order_by("-last")[:MAX_OLDER_CHATS]
    chats = Chat.objects.in_bulk([row["chat"] for row in newest])
    cleared = MemoryClearing.objects.filter(agent=agent, undone_at=None).aggregate(at=Max("cleared_at"))["at"]
    lines: list[tuple[UUID, str]] = []
    for row in newest:
        other = chats[row["chat"]]
        title = " ".join(other.title.split())
        where = f"in “{title}”" if title else "in another chat"
        first_seq = _find_first_seq(other, cleared)
        match strategy:
            case "summarise":
                found = _list_sentences(other, first_seq)
            case "retrieve":
                found = _list_found(other, first_seq, request, entries)
            case _:
                assert_never(strategy)
        for text in found:
            line = f"[{where}] {text}"
            budget -= estimate_tokens(line) + 1
            if budget < 0:
                return lines
            lines.append((other.pk, line))
    return lines


def _find_first_seq(chat: Chat, cleared: datetime | None) -> int:
    """Return the number of the first message of the chat after a clearing."""
    if cleared is None:
        return 0
    first = Message.objects.filter(chat=chat, created_at__gt=cleared).aggregate(seq=Min("seq"))["seq"]
    return END if first is None else first


def _list_sentences(chat: Chat, first_seq: int) -> list[str]:
    summary = find_newest_summary(chat.pk)
    current = list_current_sentences(summary) if summary is not None else []
    return [" ".join(one.text.split()) for one in current if min(one.sentence.seqs, default=-1) >= first_seq]


def _list_found(chat: Chat, first_seq: int, request: str, entries: Collection[HistoryEntry]) -> list[str]:
    ranges = [(entry.first_seq, entry.last_seq) for entry in entries if entry.chat_id == chat.pk]
    lines: list[str] = []
    for one in find_messages(chat.pk, request, before_seq=END, limit=MAX_FOUND * 4):
        if one.seq >= first_seq and not any(first <= one.seq <= last for first, last in ranges):
            author, text = " ".join(one.author.split()), " ".join(one.text.split())
            cut = f"{text[:MAX_CHARACTERS]}…" if len(text) > MAX_CHARACTERS else text
            lines.append(f"{author}, {one.created_at:%Y-%m-%d %H:%M} UTC: {cut}")
    return lines[:MAX_FOUND]
