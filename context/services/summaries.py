"""Write the summary of a chat: a job continues the newest summary with the messages since then.

It is started by a Celery task at the end of a run, so no answer waits for it, and read by the next runs.
"""

import json
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from celery import current_app
from django.db import IntegrityError, transaction
from django.db.models import Q

from actors.models import Actor
from chats.models import IS_SPOKEN, Chat, Message
from chats.permissions import ChatVerb, get_chat_for
from chats.selectors import END
from common.clock import now
from common.errors import Conflict
from common.ids import new_id
from common.text import to_storable
from context.earlier import MIN_KEPT, PREPARE_SHARE, TOKENS_PER_MESSAGE
from context.hooks import SummaryJob, summary_requested
from context.models import HistorySummary, Sentence, SummaryState
from context.selectors import CurrentSentence, find_newest_summary, list_current_corrections, list_current_sentences
from events import audit
from events.publish import publish_workspace_list_changed
from llm.tokens import estimate_tokens

INPUT_TOKENS = 12_000
"""Tokens of new messages that one job reads at most."""
INPUT_SHARE = 0.5
"""The part of a conversation's tokens that they may have. The summary so far and the instructions need some, too."""
MIN_INPUT_TOKENS = 400
"""With fewer, a job whose input was too long for the model is not repeated."""
MAX_JOBS_BEHIND = 4
"""How far back a summary reaches. If a person requests it: the newest `MAX_JOBS_BEHIND * INPUT_TOKENS` tokens of messages. If it is
due: the newest `budget + MAX_JOBS_BEHIND * INPUT_TOKENS` tokens after the summary before it. Older messages are left out. The last
of these messages (`MIN_KEPT`, `KEPT_SHARE`) are counted, but not summarised."""
MAX_UNSUMMARISED = 2_000_000
"""The most tokens of messages that jobs following each other summarise: as many as a conversation can have."""
KEPT_SHARE = 0.3
"""The part of a conversation's tokens for the newest messages, which no summary covers."""
MAX_KEPT_SHARE = 0.5
"""The part that the `MIN_KEPT` newest messages get at most, if they are long. It is less than `PREPARE_SHARE`, so that the next
answer does not start another summary."""
MAX_MESSAGE_CHARACTERS = 2_000
MAX_SENTENCES = 60
MAX_SENTENCE = 600
MAX_SECTION = 80
PAUSE_SECONDS = 300
"""After a summary has failed, none is started for so long, unless a person asks for it."""
EXPECTED_CHARACTERS = 4_000
_OBJECT = re.compile(r"\{.*\}", re.S)


@dataclass(frozen=True)
class NewMessage:
    """A message that a job reads."""

    seq: int
    author: str
    text: str
    date: str


def request_summary_on_commit(chat_id: UUID, person_id: UUID | None, budget: int) -> None:
    """Send the task that continues the summary of a chat when this transaction is committed. If it is lost, the next run sends
    it."""
    if person_id is not None:
        arguments = [str(chat_id), str(person_id), budget]
        send = partial(current_app.send_task, "context.tasks.summarise_chat", arguments)
        transaction.on_commit(send, robust=True)


def start_due_summary(chat_id: UUID, person_id: UUID, *, budget: int) -> HistorySummary | None:
    """Start the job that continues the summary, if the messages after the newest summary fill `PREPARE_SHARE` of `budget` (tokens).
    Return null if they do not, if one is being written, or if the last one has just failed."""
    chat = Chat.objects.filter(pk=chat_id).select_related("workspace").first()
    person = Actor.objects.filter(pk=person_id).first()
    last = HistorySummary.objects.filter(chat=chat_id).order_by("-created_at", "-pk").first()
    if chat is None or person is None or (last is not None and last.state == SummaryState.WRITING):
        return None
    if last is not None and last.state == SummaryState.FAILED and last.ended_at is not None:
        if (now() - last.ended_at).total_seconds() < PAUSE_SECONDS:
            return None
    base = find_newest_summary(chat_id)
    input_tokens = min(_find_input_tokens(chat), max(MIN_INPUT_TOKENS, int(INPUT_SHARE * budget)))
    unsummarised = _list_sizes(chat_id, base.through_seq if base else 0, limit=budget + MAX_JOBS_BEHIND * INPUT_TOKENS)
    if sum(size for _, size in unsummarised) < PREPARE_SHARE * budget:
        return None
    kept, kept_tokens = 0, 0
    for _, size in reversed(unsummarised):
        share = KEPT_SHARE if kept >= MIN_KEPT else MAX_KEPT_SHARE
        if kept and kept_tokens + size > share * budget:
            break
        kept, kept_tokens = kept + 1, kept_tokens + size
    return _start(chat, person, base, unsummarised[: len(unsummarised) - kept], input_tokens)


def request_summary(actor: Actor, chat_id: UUID) -> HistorySummary:
    """Start a job that writes the summary of a chat anew, from its messages and the corrections of people. Of the newest
    messages (`MAX_JOBS_BEHIND`) without the last `MIN_KEPT`, it covers those that the newest summary covers, or all of them if
    that summary covers none of them.

    Raises `NotFound`, `Forbidden`, and `Conflict` if one is being written, or if there is nothing to summarise.
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.POST)
    to_summarise = _list_sizes(chat_id, 0, limit=MAX_JOBS_BEHIND * INPUT_TOKENS)[:-MIN_KEPT]
    newest = find_newest_summary(chat_id)
    if newest is not None:
        to_summarise = [(seq, size) for seq, size in to_summarise if seq <= newest.through_seq] or to_summarise
    summary = _start(chat, actor, None, to_summarise, _find_input_tokens(chat)) if to_summarise else None
    if summary is None:
        raise Conflict("There is nothing to summarise here, or a summary is being written.")
    audit.record(actor, "summary.requested", workspace_id=chat.workspace_id, object_id=chat.id)
    return summary


def continue_summary(job_id: UUID, person: Actor, until: int) -> None:
    """Start the next job for a summary that has become ready, if messages up to `until`, the last one that it was started for, are
    not covered yet."""
    ready = HistorySummary.objects.filter(job_id=job_id, state=SummaryState.READY, through_seq__lt=until)
    summary = ready.select_related("chat__workspace").first()
    if summary is not None:
        unsummarised = _list_sizes(summary.chat_id, summary.through_seq, until=until, limit=MAX_UNSUMMARISED)
        _start(summary.chat, person, summary, unsummarised, summary.input_tokens)


def repeat_with_less(job_id: UUID, person: Actor, until: int) -> None:
    """Start a failed job again with half of its input, because that was too long for the model."""
    failed = (
        HistorySummary.objects.filter(job_id=job_id, state=SummaryState.FAILED)
        .select_related("chat__workspace")
        .first()
    )
    if failed is None or failed.input_tokens // 2 < MIN_INPUT_TOKENS:
        return
    since = failed.base.through_seq if failed.base else failed.from_seq - 1
    to_summarise = _list_sizes(failed.chat_id, since, until=until, limit=MAX_UNSUMMARISED)
    _start(failed.chat, person, failed.base, to_summarise, failed.input_tokens // 2)


def _find_input_tokens(chat: Chat) -> int:
    """Return how many tokens of new messages a job may read: half as many as the last one, if they were too many for the model."""
    last = HistorySummary.objects.filter(chat=chat).order_by("-created_at", "-pk").first()
    limit = chat.workspace.context_max_tokens
    of_workspace = INPUT_TOKENS if limit is None else int(INPUT_SHARE * limit)
    was_too_long = last is not None and (last.state, last.error_code) == (SummaryState.FAILED, "context_too_long")
    of_last = last.input_tokens // 2 if last is not None and was_too_long else INPUT_TOKENS
    return max(MIN_INPUT_TOKENS, min(INPUT_TOKENS, of_workspace, of_last))


def _list_sizes(chat_id: UUID, since: int, *, limit: int, until: int = END) -> list[tuple[int, int]]:
    """Return the numbers and tokens of the messages after `since` and up to `until`, in order: only the newest, which together have
    at most `limit` tokens."""
    texts = Message.objects.filter(IS_SPOKEN, chat=chat_id, seq__gt=since, seq__lte=until, deleted_at=None)
    rows: list[tuple[int, int]] = []
    for seq, tokens, size in texts.order_by("-seq").values_list("seq", "tokens", "payload_bytes").iterator(1_000):
        tokens = (tokens if tokens is not None else size // 4) + TOKENS_PER_MESSAGE
        limit -= tokens
        if limit < 0:
            break
        rows.append((seq, tokens))
    return rows[::-1]


def _start(
    chat: Chat,
    person: Actor,
    base: HistorySummary | None,
    to_summarise: Sequence[tuple[int, int]],
    input_tokens: int,
) -> HistorySummary | None:
    """Start the job that continues `base` with the first of these messages, with at most `input_tokens` if it is more than one
    message; the next job follows it (`continue_summary`). Return null if there are no messages, or if another summary of the chat
    is being written."""
    through, tokens, count = 0, 0, 0
    for seq, size in to_summarise:
        if count and tokens + size > input_tokens:
            break
        through, tokens, count = seq, tokens + size, count + 1
    if not count:
        return None
    sentences = list_current_sentences(base) if base else []
    edited = _list_edited(base, max_tokens=input_tokens // 2) if base else []
    messages = _read_messages(chat.id, Q(seq__gte=to_summarise[0][0], seq__lte=through) | Q(seq__in=edited))
    text = build_job_text(sentences, chat, messages)
    try:
        with transaction.atomic():
            summary = HistorySummary.objects.create(
                chat=chat,
                base=base,
                from_seq=base.from_seq if base else to_summarise[0][0],
                through_seq=through,
                messages=(base.messages if base else 0) + len(messages) - len(edited),
                source_tokens=(base.source_tokens if base else 0) + tokens,
                input_tokens=input_tokens,
            )
            data = {"text": text, "until": to_summarise[-1][0]}
            job = SummaryJob(person, chat.workspace_id, chat.id, text, data, EXPECTED_CHARACTERS)
            [summary.job_id] = summary_requested.call(job)
            summary.save(update_fields=["job_id"])
            publish_workspace_list_changed(chat.workspace_id, "summaries")
    except IntegrityError:
        return None
    return summary


def _list_edited(base: HistorySummary, *, max_tokens: int) -> list[int]:
    """Return the numbers of the messages that a summary covers and that were edited since, because its sentences about them are
    left out: those that were edited last, which together have at most `max_tokens` tokens."""
    covered = Message.objects.filter(IS_SPOKEN, chat=base.chat_id, seq__gte=base.from_seq, seq__lte=base.through_seq)
    edited = covered.filter(edited_at__gte=base.created_at, deleted_at=None).order_by("-edited_at")
    seqs: list[int] = []
    for seq, tokens in edited.values_list("seq", "tokens").iterator(1_000):
        max_tokens -= (tokens or 0) + TOKENS_PER_MESSAGE
        if max_tokens < 0:
            break
        seqs.append(seq)
    return seqs


def _read_messages(chat_id: UUID, condition: Q) -> list[NewMessage]:
    rows = Message.objects.filter(IS_SPOKEN, condition, chat=chat_id, deleted_at=None).select_related("author")
    return [
        NewMessage(
            row.seq,
            " ".join(row.author.name.split()) if row.author else "",
            _shorten(row.text) if row.type == "TEXT_MESSAGE" else f"[shared the file “{row.payload['name']}”]",
            f"{row.created_at:%Y-%m-%d %H:%M}",
        )
        for row in rows.order_by("seq")
    ]


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MAX_MESSAGE_CHARACTERS else f"{text[:MAX_MESSAGE_CHARACTERS]}…"


def build_job_text(sentences: Iterable[CurrentSentence], chat: Chat, messages: Iterable[NewMessage]) -> str:
    """Return the input of the job: the summary so far, corrections, and new messages, each between marks with a random key."""
    key = secrets.token_hex(8)
    so_far = [f"{_number(one.sentence.seqs)} ({one.sentence.section}) {one.text}" for one in sentences]
    corrections = [
        f"{_number(correction.seqs)} ({correction.section}) {correction.new_text}"
        for correction in list_current_corrections(chat.id)
    ]
    lines = [f"[{message.seq}] {message.date} {message.author}: {message.text}" for message in messages]
    parts = [("summary", so_far), ("corrections", corrections), ("messages", lines)]
    return "\n\n".join(
        "\n".join([f"<<<{name} {key}>>>", *(part or ["(none)"]), f"<<<end of {name} {key}>>>"]) for name, part in parts
    )


def _number(seqs: Iterable[int]) -> str:
    return f"[{', '.join(map(str, seqs))}]"


def store_summary(job_id: UUID, answer: str, model: str) -> None:
    """Store the answer of a job as the newest summary of its chat, or that the summary has failed if the answer cannot be read."""
    summary = HistorySummary.objects.select_for_update().filter(job_id=job_id, state=SummaryState.WRITING).first()
    if summary is None:
        return
    cited = [seq for entry in _read_entries(answer) for seq in _read_numbers(entry.get("from"))]
    summarised = Message.objects.filter(
        chat=summary.chat_id, seq__gte=summary.from_seq, seq__lte=summary.through_seq, seq__in=cited
    )
    known = set(summarised.values_list("seq", flat=True))
    ids_of_texts = {one.text: one.id for one in (summary.base.parse_sentences() if summary.base else [])}
    sentences = parse_answer(answer, known, ids_of_texts)
    if not sentences:
        _end(summary, SummaryState.FAILED, error_code="unreadable")
        return
    summary.sentences = [sentence.model_dump(mode="json") for sentence in sentences]
    summary.tokens = sum(estimate_tokens(sentence.text) for sentence in sentences)
    summary.model = model[:200]
    _end(summary, SummaryState.READY)


def fail_summary(job_id: UUID, error_code: str) -> None:
    """Store that a job has ended without a summary. The one before it still counts."""
    summary = HistorySummary.objects.select_for_update().filter(job_id=job_id, state=SummaryState.WRITING).first()
    if summary is not None:
        _end(summary, SummaryState.FAILED, error_code=error_code[:40])


def _end(summary: HistorySummary, state: SummaryState, *, error_code: str = "") -> None:
    summary.state, summary.error_code, summary.ended_at = state, error_code, now()
    summary.save()
    workspace_id = Chat.objects.values_list("workspace", flat=True).get(pk=summary.chat_id)
    publish_workspace_list_changed(workspace_id, "summaries")


def parse_answer(answer: str, known: set[int], ids_of_texts: dict[str, UUID]) -> list[Sentence]:
    """Return the sentences of an answer that name existing messages; none if the answer is not the expected JSON. A sentence that
    the previous summary has in the same words keeps its id; if the answer repeats it, only the first one does."""
    sentences: list[Sentence] = []
    left = dict(ids_of_texts)
    for entry in _read_entries(answer)[:MAX_SENTENCES]:
        text = " ".join(to_storable(str(entry.get("text", ""))).split())[:MAX_SENTENCE]
        section = " ".join(to_storable(str(entry.get("section", ""))).split())[:MAX_SECTION]
        seqs = sorted({seq for seq in _read_numbers(entry.get("from")) if seq in known})[:20]
        if text and seqs:
            sentences.append(Sentence(id=left.pop(text, None) or new_id(), section=section, text=text, seqs=seqs))
    order = list(dict.fromkeys(sentence.section for sentence in sentences))
    return sorted(sentences, key=lambda sentence: order.index(sentence.section))


def _read_entries(answer: str) -> list[dict[str, Any]]:
    match = _OBJECT.search(answer)
    try:
        content = json.loads(match[0]) if match else {}
    except (ValueError, RecursionError):
        return []
    entries = content.get("sentences") if isinstance(content, dict) else None
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _read_numbers(value: object) -> list[int]:
    numbers = value if isinstance(value, list) else []
    return [
        number for number in numbers if isinstance(number, int) and not isinstance(number, bool) and 0 < number < 2**62
    ]
