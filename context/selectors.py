"""Reads of summaries, of pinned messages and important events of a chat, and of the strategies of agents."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import QuerySet

from chats.models import IMPORTANT_TYPES, Chat, Message
from chats.prepared_queries import shorten_texts
from common.sql_constant import SqlConstant
from context.models import AgentContext, HistorySummary, Sentence, SummaryCorrection, SummaryState
from events.payloads import MessageReference
from events.rows import ContextSettingsRow, EndedCorrectionRow, HistorySummaryRow, SentenceRow
from workspaces.models import Workspace

MAX_EVENTS = 12
"""Important events that are added to a conversation, the newest ones."""
MAX_ENDED = 200
"""Corrections of a chat that were replaced or undone and are still shown, the newest ones."""


@dataclass(frozen=True)
class CurrentSentence:
    """A sentence of a summary with the correction that replaces its text, if there is one."""

    sentence: Sentence
    correction: SummaryCorrection | None = None

    @property
    def text(self) -> str:
        return self.correction.new_text if self.correction else self.sentence.text


def find_newest_summary(chat_id: UUID) -> HistorySummary | None:
    """Return the newest summary of a chat that is ready."""
    ready = HistorySummary.objects.filter(chat=chat_id, state=SummaryState.READY)
    return ready.order_by("-created_at", "-pk").first()


def list_corrections(chat_id: UUID) -> list[SummaryCorrection]:
    """Return the corrections that are still valid, the oldest first."""
    corrections = SummaryCorrection.objects.filter(chat=chat_id, ended_at=None).select_related("person")
    return list(corrections.order_by("created_at", "pk"))


def apply_corrections(sentences: Iterable[Sentence], corrections: Sequence[SummaryCorrection]) -> list[CurrentSentence]:
    """Return the sentences with their corrections. A correction belongs to the sentence with its id, else to one with its text,
    else to one about the same messages, which a later summary has written. A correction without such a sentence is added as a
    sentence, so that it outlives every summary."""
    written = list(sentences)
    correction_by_index: dict[int, SummaryCorrection] = {}
    left = list(corrections)
    for is_match in (_has_same_id, _has_same_text, _has_same_messages):
        for correction in list(left):
            # The most similar sentence is chosen: a later summary may have several sentences about the same messages.
            similarities = {
                index: SequenceMatcher(None, correction.old_text, sentence.text).ratio()
                for index, sentence in enumerate(written)
                if index not in correction_by_index and is_match(correction, sentence)
            }
            if similarities:
                correction_by_index[max(similarities, key=similarities.__getitem__)] = correction
                left.remove(correction)
    current = [CurrentSentence(sentence, correction_by_index.get(index)) for index, sentence in enumerate(written)]
    for correction in left:
        own = Sentence(
            id=correction.sentence_id, section=correction.section, text=correction.old_text, seqs=correction.seqs
        )
        current.append(CurrentSentence(own, correction))
    return current


def _has_same_id(correction: SummaryCorrection, sentence: Sentence) -> bool:
    return sentence.id == correction.sentence_id


def _has_same_text(correction: SummaryCorrection, sentence: Sentence) -> bool:
    return sentence.text in (correction.old_text, correction.new_text)


def _has_same_messages(correction: SummaryCorrection, sentence: Sentence) -> bool:
    """Return whether the sentence may be one that a later summary has written about the same messages."""
    return sentence.section == correction.section and set(sentence.seqs) == set(correction.seqs)


def list_current_sentences(summary: HistorySummary) -> list[CurrentSentence]:
    """Return the sentences of a summary with their corrections, without those about a message that was deleted, is in an answer
    that is not in use, or was edited after the summary was written."""
    return [current for current, _ in _list_sentences_with_sources(summary)]


def _list_sentences_with_sources(summary: HistorySummary) -> list[tuple[CurrentSentence, list[MessageReference]]]:
    current = apply_corrections(summary.parse_sentences(), list_corrections(summary.chat_id))
    sources = _find_sources(summary.chat_id, {seq for one in current for seq in one.sentence.seqs})
    return [
        (one, [MessageReference(seq=seq, message_id=sources[seq].id) for seq in one.sentence.seqs])
        for one in current
        if _are_unchanged(one.sentence.seqs, sources, summary.created_at)
    ]


def list_current_corrections(chat_id: UUID) -> list[SummaryCorrection]:
    """Return the valid corrections of a chat without those about a message that was deleted, or was edited after them."""
    corrections = list_corrections(chat_id)
    sources = _find_sources(chat_id, {seq for correction in corrections for seq in correction.seqs})
    return [one for one in corrections if _are_unchanged(one.seqs, sources, one.created_at)]


class Source(NamedTuple):
    """A message that a sentence of a summary is about."""

    id: UUID
    edited_at: datetime | None


def _find_sources(chat_id: UUID, seqs: Collection[int]) -> dict[int, Source]:
    """Return those of these messages that are not deleted and in no unused answer, by `seq`."""
    rows = Message.objects.filter(chat=chat_id, seq__in=seqs, deleted_at=None, is_unused=False)
    return {seq: Source(id, edited_at) for seq, id, edited_at in rows.values_list("seq", "pk", "edited_at")}


def _are_unchanged(seqs: Iterable[int], sources: Mapping[int, Source], since: datetime) -> bool:
    """Return whether none of these messages was deleted, or edited since then."""
    found = [sources.get(seq) for seq in seqs]
    return all(source is not None and (source.edited_at is None or source.edited_at < since) for source in found)


def find_agent_strategy(chat_id: UUID, agent_id: UUID) -> str | None:
    """Return the strategy by which the agent last read this chat, or null if it has always read it whole."""
    return AgentContext.objects.filter(chat=chat_id, agent=agent_id).values_list("strategy", flat=True).first()


def list_older_pinned_messages(chat_id: UUID, before_seq: int, *, max_characters: int) -> list[Message]:
    """Return the pinned messages before `before_seq`, the last pinned first, each with at most `max_characters` of its text.
    These rows must not be saved."""
    pinned = Message.objects.filter(chat=chat_id, seq__lt=before_seq, pinned_at__isnull=False, is_unused=False)
    shortened: Any = shorten_texts(pinned, max_characters).select_related("author").order_by("-pinned_at", "-pk")
    found = list(shortened)
    for message in found:
        message.payload = message.preview  # `shorten_texts` has deferred the whole payload
    return found


def list_important_events(chat_id: UUID, before_seq: int) -> list[Message]:
    """Return the newest `MAX_EVENTS` important events before `before_seq` that are not pinned, in the order of the log."""
    events = Message.objects.filter(
        type__in=[SqlConstant(type) for type in IMPORTANT_TYPES],
        chat=chat_id,
        seq__lt=before_seq,
        metadata__isnull=True,
        is_unused=False,
        pinned_at=None,
    ).select_related("author")
    return list(events.order_by("-seq")[:MAX_EVENTS])[::-1]


def build_summary_row(chat: Chat) -> HistorySummaryRow:
    """Return the newest summary of a chat, and the state of the last attempt to write one."""
    last = HistorySummary.objects.filter(chat=chat).order_by("-created_at", "-pk").first()
    strategy: Any = chat.workspace.context_strategy
    if last is None:
        return HistorySummaryRow(chat_id=chat.pk, state="none", strategy=strategy)
    state: Any = last.state
    summary = last if last.state == SummaryState.READY else find_newest_summary(chat.pk)
    if summary is None:
        return HistorySummaryRow(chat_id=chat.pk, state=state, error_code=last.error_code or None, strategy=strategy)
    ended = SummaryCorrection.objects.filter(chat=chat, ended_at__isnull=False).select_related("person")
    corrections = list(ended.order_by("-created_at", "-pk")[:MAX_ENDED])
    ends = Message.objects.filter(chat=chat, seq__in=[summary.from_seq, summary.through_seq])
    by_seq = {seq: (id, at) for seq, id, at in ends.values_list("seq", "pk", "created_at")}
    nothing = (None, None)
    return HistorySummaryRow(
        chat_id=chat.pk,
        state=state,
        error_code=last.error_code or None,
        id=summary.id,
        from_seq=summary.from_seq,
        through_seq=summary.through_seq,
        through_id=by_seq.get(summary.through_seq, nothing)[0],
        messages=summary.messages,
        from_at=by_seq.get(summary.from_seq, nothing)[1],
        through_at=by_seq.get(summary.through_seq, nothing)[1],
        written_at=summary.ended_at,
        model=summary.model,
        tokens=summary.tokens,
        source_tokens=summary.source_tokens,
        sentences=[
            _build_sentence_row(one, sources, corrections) for one, sources in _list_sentences_with_sources(summary)
        ],
        strategy=strategy,
    )


def _build_sentence_row(
    one: CurrentSentence, sources: list[MessageReference], ended_corrections: Sequence[SummaryCorrection]
) -> SentenceRow:
    """Return the row of a sentence. Of the chat's `ended_corrections`, it has those with the id of the sentence or of its present
    correction, or with its original text, which a later summary writes under another id."""
    ids = {one.sentence.id} | ({one.correction.sentence_id} if one.correction else set())
    original = one.correction.old_text if one.correction else one.sentence.text
    row = SentenceRow(
        id=one.sentence.id,
        section=one.sentence.section,
        text=one.text,
        sources=sources,
        ended=[
            EndedCorrectionRow(
                id=ended.id,
                text=ended.new_text,
                by_name=ended.person.name if ended.person else "",
                created_at=ended.created_at,
            )
            for ended in ended_corrections
            if ended.sentence_id in ids or ended.old_text == original
        ],
    )
    if one.correction is None:
        return row
    by = one.correction.person
    return row.model_copy(
        update={
            "correction_id": one.correction.id,
            "old_text": one.correction.old_text,
            "corrected_by": by.id if by else None,
            "corrected_by_name": by.name if by else "",
            "corrected_at": one.correction.created_at,
        }
    )


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return all summaries, corrections and strategies of a deleted workspace, to purge them. A listener of
    `collect_rows_to_purge`."""
    models: tuple[Any, ...] = (SummaryCorrection, HistorySummary, AgentContext)
    return [model.objects.filter(chat__workspace=workspace) for model in models]


def build_settings_row(workspace: Workspace) -> ContextSettingsRow:
    """Return the settings of a workspace for long chats."""
    strategy: Any = workspace.context_strategy
    return ContextSettingsRow(
        strategy=strategy,
        max_tokens=workspace.context_max_tokens,
        revision=workspace.context_revision,
    )
