"""What a model reads of the older messages of a chat that is too long for it: the pinned ones, a summary, those that match the
request, and important events. It is a part of the system text, so that no later message pushes it out.

It knows no run: `runs/runtime/history.py` calls it for a chat that does not fit, and never for another.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from chats.models import Chat, Message
from context.models import HistorySummary
from context.retrieval import FoundText, Vector, find_messages
from context.selectors import (
    CurrentSentence,
    find_agent_strategy,
    find_newest_summary,
    list_current_sentences,
    list_important_events,
    list_older_pinned_messages,
)
from context.transcript import LogEntry
from embeddings.selectors import VectorRequest
from events.payloads import ContextFacts, ContextLimit, ContextStrategy, MessageReference
from llm.sent_requests import Section, SectionKind
from llm.tokens import estimate_tokens
from tools.fence import fence_lines

OLDER_DIVISOR = 4
"""Older messages get at most the fourth part of the tokens of a conversation."""
PREPARE_SHARE = 0.7
"""A summary or embeddings are prepared when the messages that need them have this part of the tokens of a conversation."""
MIN_KEPT = 12
"""The number of newest messages that are read in full beside a summary. A summary also covers some of them if they are very long
(`MAX_KEPT_SHARE` in `context/services/summaries.py`)."""
MAX_FOUND_CHARACTERS = 1_200
"""Characters of a found message that are added."""
PINNED_CHARACTERS = (1_200, 600, 300, 150)
"""Characters of a pinned message that are added: the first of these numbers with which all fit, else the last one."""
PINNED_DIVISOR = 2
"""Pinned messages get at most this part of the tokens of older messages (one half) if there is a summary or a found message."""
TOKENS_PER_MESSAGE = 8
"""What a model reads of a message besides its text: the name of its author, and the form of the request."""
CITATION = "its number, in this form: [#7]"


@dataclass(frozen=True)
class LogRow:
    """A row of the log that a conversation could have, with the estimate of its tokens."""

    seq: int
    tokens: int


@dataclass(frozen=True)
class EarlierContext:
    """The text about the older messages, and the `seq` from which on messages are read in full (`kept_from`). `is_new`: until now
    the agent has always read the whole chat, or the last time it used another strategy. `needs_summary`: a summary should be
    started at the end of the run; `needs_embeddings`: the messages of the chat should be embedded. `vector_request`: what is needed
    to search by meaning, too. `budget`: tokens of the conversation. `sections`: the parts of the text, in their order. A chat that
    is still read whole has no text and no facts."""

    budget: int
    needs_summary: bool
    text: str = ""
    kept_from: int = 0
    facts: ContextFacts | None = None
    is_new: bool = False
    needs_embeddings: bool = False
    vector_request: VectorRequest | None = None
    sections: tuple[Section, ...] = ()

    def list_kept_entries(self, entries: Iterable[LogEntry], trigger_id: UUID | None, run_id: UUID) -> list[LogEntry]:
        """Return the entries that are read in full: those from `kept_from` on, the trigger of the run, and those of the run."""
        return [one for one in entries if one.seq >= self.kept_from or one.id == trigger_id or one.run_id == run_id]

    def with_size(self, *, turns: int, limit: int, limit_by: ContextLimit) -> "EarlierContext":
        """Return a copy whose facts have this number of turns and this limit of tokens; itself if it has no facts."""
        if self.facts is None:
            return self
        size = {"turns": turns, "limit": limit, "limit_by": limit_by}
        return replace(self, facts=self.facts.model_copy(update=size))


def compute_tokens(rows: Iterable[LogRow]) -> int:
    """Return an estimate of the tokens of these messages in a conversation."""
    return sum(row.tokens + TOKENS_PER_MESSAGE for row in rows)


def choose_kept(rows: Sequence[LogRow], budget: int) -> int:
    """Return the `seq` of the oldest message that is kept: as many of the newest as fit into this budget, and always the last."""
    kept_from = rows[-1].seq
    for row in reversed(rows):
        budget -= row.tokens + TOKENS_PER_MESSAGE
        if budget < 0:
            break
        kept_from = row.seq
    return kept_from


def build_earlier_context(
    chat: Chat,
    agent_id: UUID,
    strategy: ContextStrategy,
    rows: Sequence[LogRow],
    *,
    request: str,
    budget: int,
    vector: Vector | None = None,
) -> EarlierContext:
    """Build the text about the older messages of a chat that does not fit into `budget` tokens. `rows`: its newest messages;
    `request`: the text that retrieval looks for; `vector`: its embedding."""
    share = budget // OLDER_DIVISOR
    kept_from = choose_kept(rows, budget - share)
    summary = find_newest_summary(chat.id) if strategy != "truncate" else None
    sentences = _format_sentences(list_current_sentences(summary)) if summary is not None else []
    share_without_pinned = share - share // PINNED_DIVISOR
    has_room_for_summary = bool(_fit_lines(sentences, share_without_pinned if chat.pin_count else share)[0])
    if summary is not None and has_room_for_summary and strategy == "summarise":
        # Messages between the summary and those that fit would be missing: they are kept, and shortened with the rest.
        kept_from = max(min(summary.through_seq + 1, rows[-min(MIN_KEPT, len(rows))].seq), rows[0].seq)
    found: list[FoundText] = []
    if strategy == "retrieve":
        found = find_messages(chat.id, request, before_seq=kept_from, vector=vector)
    pinned = (
        list_older_pinned_messages(chat.id, kept_from, max_characters=2 * PINNED_CHARACTERS[0])
        if chat.pin_count
        else []
    )
    events = list_important_events(chat.id, kept_from)

    kept_for_others = share_without_pinned if found or sentences else 0
    lines_of_pinned, left = _choose_pinned(pinned, share - kept_for_others)
    # The best of the found messages are chosen. The model reads them in the order of the log.
    found = [one for one in found if one.id not in lines_of_pinned]
    lines_of_found, left = _fit_lines(map(_format_found, found), left + kept_for_others)
    found = sorted(found[: len(lines_of_found)], key=lambda one: one.seq)
    lines_of_summary, left = _fit_lines(sentences, left)
    summary = summary if lines_of_summary else None
    lines_of_events, _ = _fit_lines(map(_format_event, events), left)
    sections = [
        *_build_section("pinned", "pinned messages", list(lines_of_pinned.values())),
        *_build_section("retrieved", "older messages", list(map(_format_found, found))),
        *_build_section("summary", "summary", lines_of_summary, summary),
        *_build_section("events", "events", lines_of_events),
    ]
    facts = ContextFacts(
        strategy=strategy,
        summary_id=summary.id if summary else None,
        summary_through=summary.through_seq if summary else None,
        found=[MessageReference(seq=one.seq, message_id=one.id) for one in found],
        events=len(lines_of_events),
        pinned=len(lines_of_pinned),
        turns=0,  # counted once it is known which messages fit (`count_texts`)
    )
    return EarlierContext(
        text="\n".join(["Older messages of this chat are left out.", *(section.text for section in sections)]),
        kept_from=kept_from,
        facts=facts,
        is_new=find_agent_strategy(chat.id, agent_id) != strategy,
        needs_summary=strategy == "summarise" and _is_summary_due(rows, summary, budget),
        budget=budget,
        needs_embeddings=strategy == "retrieve",
        sections=tuple(sections),
    )


def _choose_pinned(pinned: Sequence[Message], budget: int) -> tuple[dict[UUID, str], int]:
    """Return the lines of the pinned messages that fit into the budget, by their ids, and what is left of it. The last pinned are
    chosen, shortened as little as possible, and are in the order of the log."""
    for characters in PINNED_CHARACTERS:
        lines, left = _fit_lines([_format_pinned(message, characters) for message in pinned], budget)
        if len(lines) == len(pinned):
            break
    chosen = sorted(zip(pinned, lines, strict=False), key=lambda pair: pair[0].seq)
    return {message.id: line for message, line in chosen}, left


def _build_section(
    kind: SectionKind, label: str, lines: Sequence[str], summary: HistorySummary | None = None
) -> list[Section]:
    """Return the section with these lines; none without lines. `summary`: the summary whose sentences they are."""
    if not lines:
        return []
    authors = "a model, of messages of this chat" if summary else "people and agents of this chat"
    before = [f"A summary stands for the messages up to number {summary.through_seq}."] if summary else []
    return [Section(kind, "\n".join([*before, *fence_lines(label, lines, authors=authors, citation=CITATION)]))]


def _is_summary_due(rows: Sequence[LogRow], summary: HistorySummary | None, budget: int) -> bool:
    through = summary.through_seq if summary else 0
    return compute_tokens(row for row in rows if row.seq > through) > PREPARE_SHARE * budget


def _fit_lines(lines: Iterable[str], budget: int) -> tuple[list[str], int]:
    """Return the first lines that fit into the budget, and what is left of it."""
    fitting: list[str] = []
    for line in lines:
        size = estimate_tokens(line) + 1
        if size > budget:
            break
        fitting.append(line)
        budget -= size
    return fitting, budget


def _format_found(found: FoundText, max_characters: int = MAX_FOUND_CHARACTERS) -> str:
    text = " ".join(found.text.split())
    cut = f"{text[:max_characters]}…" if len(text) > max_characters else text
    return f"[#{found.seq}] {' '.join(found.author.split())}, {found.created_at:%Y-%m-%d %H:%M} UTC: {cut}"


def _format_pinned(message: Message, max_characters: int) -> str:
    if message.type != "TEXT_MESSAGE":
        return _format_event(message)
    author = message.author.name if message.author else ""
    return _format_found(FoundText(message.id, message.seq, author, message.text, message.created_at), max_characters)


def _format_sentences(sentences: Iterable[CurrentSentence]) -> list[str]:
    """Return each sentence; the first one of a section has the name of the section before it."""
    lines: list[str] = []
    section = ""
    for one in sentences:
        heading = ""
        if one.sentence.section != section:
            section = one.sentence.section
            heading = f"{section}:\n"
        numbers = "".join(f" [#{seq}]" for seq in one.sentence.seqs)
        corrected = " (corrected by a person)" if one.correction else ""
        lines.append(f"{heading}- {one.text}{numbers}{corrected}")
    return lines


def _format_event(event: Message) -> str:
    payload = event.payload
    who = event.author.name if event.author else payload.get("actor_name", "")
    match event.type:
        case "FILE_MESSAGE":
            gone = " (deleted)" if payload.get("is_deleted") else f" (id {payload['file_id']})"
            what = f"shared the file “{payload['name']}”{gone}"
        case "APPROVAL_DECIDED":
            what = f"decided about the call of {payload['tool']}: {payload['decision']}"
        case "SPEC_SAVED":
            what = f"saved version {payload.get('version') or ''} of {payload.get('target_name', '')}"
        case "SUGGESTION_ACCEPTED":
            what = f"accepted a suggestion for {payload.get('target_name', '')}"
        case _:  # DRAFT_APPLIED, DRAFT_MERGED
            what = f"changed {payload.get('target_name', '')} in this chat"
    return f"[#{event.seq}] {event.created_at:%Y-%m-%d %H:%M} UTC: {' '.join(f'{who} {what}'.split())}"
