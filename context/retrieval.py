"""Find the older messages of a chat that match a request, by the words that they share and, if it has an embedding, by meaning.

A request has words that occur in thousands of messages, and a few that occur in some. Only the rare ones are looked up in the
index, so that the cost does not grow with the chat; all of them count for the order. How often a word occurs is known from the
statistics of PostgreSQL (`ANALYZE`), without a query for each word.
"""

import math
import re
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from uuid import UUID

from django.db import connection

from chats.search import quote_term, split_terms
from embeddings.selectors import find_by_vector

MAX_MATCHES = 5_000
"""Messages of all chats that the looked-up words of one request may match, by an estimate."""
MAX_SHORT_CHAT = 5_000
"""A chat of at most so many rows is searched for all words."""
MAX_FOUND = 10
"""Messages that are added to a conversation."""
MAX_RANKED = 200
"""The best matches of a request, among which those with other words than the matches before them are preferred."""
ALIKE_FACTOR = 0.9
"""The score of a match is multiplied by this for each better match with the same words of the request. Without it, a question that
was asked about many things comes before the message that answers it for one of them."""
FUSION_RANK = 5
"""The smaller it is, the more the first ranks count. With the usual 60, a message that is in the middle of both rankings would come
before the first one of either, which may be the only one that answers; with 10, it would come before the fifth one."""
STATISTICS_SECONDS = 600
"""How long the statistics of a process count as fresh."""
DEFAULT_FREQUENCY = 0.0001
"""In a table without statistics, each word is assumed to be half as frequent as this."""
_STOP_WORDS = frozenset(
    "a an and are as at be been but by can could did do does for from had has have how i if in is it its me my no not of on or our"
    " please she so tell that the their them there they this to us was we were what when where which who whom whose why will with"
    " would you your about".split()
)
_ENDING = re.compile(r"(?:ies|ing|ed|es|s)$")
# A lexeme of a tsquery in single quotes. Quotes and backslashes inside are doubled. With `:*` it is the beginning of words.
_WORD = re.compile(r"^'((?:[^'\\]|''|\\\\)*)'(:\*)?$")


@dataclass(frozen=True)
class Vector:
    """The embedding of a request, as PostgreSQL reads it, by the model of this generation."""

    generation: UUID
    numbers: str


@dataclass(frozen=True)
class FoundText:
    """An older message that matches a request."""

    id: UUID
    seq: int
    author: str
    text: str
    created_at: datetime


class WordStatistics:
    """The frequencies of the words of messages, as PostgreSQL estimates them; read again every `STATISTICS_SECONDS`."""

    def __init__(self) -> None:
        self._read_at = 0.0
        self._words: list[str] = []
        self._frequencies: list[float] = []
        self.rows = 0.0
        self._lock = Lock()

    def read(self) -> None:
        """Read the statistics if they are old."""
        with self._lock:
            if self._read_at and time.monotonic() - self._read_at < STATISTICS_SECONDS:
                return
            with connection.cursor() as cursor:
                cursor.execute("SELECT reltuples FROM pg_class WHERE oid = 'chats_message'::regclass")
                self.rows = max(1.0, float(cursor.fetchone()[0]))
                cursor.execute(
                    "SELECT most_common_elems::text::text[], most_common_elem_freqs FROM pg_stats"
                    " WHERE schemaname = current_schema() AND tablename = 'chats_message' AND attname = 'words'"
                )
                words, frequencies = cursor.fetchone() or (None, None)
            # The last two of the frequencies are the least and the greatest of them.
            pairs = sorted(zip(words or (), frequencies or (), strict=False))
            self._words, self._frequencies = [word for word, _ in pairs], [frequency for _, frequency in pairs]
            self._read_at = time.monotonic()

    def estimate_frequency(self, term: str) -> float:
        """Return an estimate of the share of all messages that have this term, a lexeme of a tsquery (`split_terms`).

        A word that is not among the most common ones is assumed to be half as frequent as the rarest of them.
        """
        match = _WORD.match(term)
        word = match[1].replace("''", "'").replace("\\\\", "\\") if match else term
        least = min(self._frequencies, default=DEFAULT_FREQUENCY) / 2
        at = bisect_left(self._words, word)
        if match is None or not match[2]:
            is_known = at < len(self._words) and self._words[at] == word
            return self._frequencies[at] if is_known else least
        total = 0.0
        while at < len(self._words) and self._words[at].startswith(word):
            total += self._frequencies[at]
            at += 1
        return min(1.0, max(total, least))


STATISTICS = WordStatistics()


def split_request(text: str) -> list[str]:
    """Return the terms of a request, without words that say nothing, and each word without its ending."""
    terms: list[str] = []
    for term in split_terms(text):
        match = _WORD.match(term)
        if match is None or not match[2] or not match[1].isascii():
            terms.append(term)
        elif match[1] not in _STOP_WORDS:
            stem = _ENDING.sub("", match[1])
            terms.append(f"{quote_term(stem if len(stem) >= 4 else match[1])}{match[2]}")
    return list(dict.fromkeys(terms))


def find_by_words(chat_id: UUID, text: str, *, before_seq: int, limit: int = MAX_FOUND) -> list[UUID]:
    """Return the messages of a chat before `before_seq` that share the rarest words with this text, the best first."""
    terms = split_request(text)
    if not terms:
        return []
    STATISTICS.read()
    frequencies = {term: STATISTICS.estimate_frequency(term) for term in terms}
    weights = {term: math.log(1 + 1 / frequency) for term, frequency in frequencies.items()}
    looked_up = " | ".join(terms if before_seq <= MAX_SHORT_CHAT else _choose_rare(terms, frequencies))
    score = " + ".join(["CASE WHEN words @@ %s::tsquery THEN %s ELSE 0 END"] * len(terms))
    params: list[str | float] = [value for term in terms for value in (term, weights[term])]
    matched = ", ".join(["words @@ %s::tsquery"] * len(terms))
    with connection.cursor() as cursor:
        # A long message has more words by chance.
        cursor.execute(
            f"SELECT id, score, ARRAY[{matched}] FROM"
            f" (SELECT id, words, seq, ({score}) / (3 + ln(1 + length(words))) AS score FROM chats_message"
            " WHERE chat_id = %s AND seq < %s AND type = 'TEXT_MESSAGE' AND words @@ %s::tsquery"
            " ORDER BY score DESC, seq DESC LIMIT %s) best"
            " ORDER BY score DESC, seq DESC",
            [*terms, *params, chat_id, before_seq, looked_up, max(limit, MAX_RANKED)],
        )
        return _rank_matches(cursor.fetchall())[:limit]


def _rank_matches(rows: Sequence[tuple[UUID, float, list[bool]]]) -> list[UUID]:
    """Return the messages, the best first. `ALIKE_FACTOR` lowers the score of a message for each better one that has exactly the
    same words of the request."""
    better: Counter[tuple[bool, ...]] = Counter()
    scores: dict[UUID, float] = {}
    for id, score, matched in rows:
        scores[id] = score * ALIKE_FACTOR ** better[tuple(matched)]
        better[tuple(matched)] += 1
    return sorted(scores, key=lambda id: scores[id], reverse=True)


def _choose_rare(terms: Sequence[str], frequencies: dict[str, float]) -> list[str]:
    """Return the rarest terms, as long as they match at most `MAX_MATCHES` messages together. If even the rarest one matches more,
    only messages that have all of the three rarest terms are looked up."""
    ordered = sorted(terms, key=lambda term: frequencies[term])
    chosen: list[str] = []
    matches = 0.0
    for term in ordered:
        matches += frequencies[term] * STATISTICS.rows
        if matches > MAX_MATCHES:
            break
        chosen.append(term)
    return chosen or [f"({' & '.join(ordered[:3])})"]


def merge_rankings(rankings: Iterable[Sequence[UUID]]) -> list[UUID]:
    """Return the messages of several rankings in one order, by reciprocal rank fusion: a message counts 1 / (`FUSION_RANK` + its
    rank) in each ranking that has it."""
    scores: dict[UUID, float] = {}
    for ranking in rankings:
        for rank, id in enumerate(ranking, start=1):
            scores[id] = scores.get(id, 0.0) + 1 / (FUSION_RANK + rank)
    return sorted(scores, key=lambda id: scores[id], reverse=True)


def find_messages(
    chat_id: UUID, text: str, *, before_seq: int, limit: int = MAX_FOUND, vector: Vector | None = None
) -> list[FoundText]:
    """Return the messages of a chat before `before_seq` that match this text best, the best first, and each text once.

    `vector`: the embedding of the text; null: only its words are searched.
    """
    ids = find_by_words(chat_id, text, before_seq=before_seq, limit=limit * 5)
    if vector is not None:
        near = find_by_vector(chat_id, vector.generation, vector.numbers, before_seq=before_seq, limit=limit * 5)
        ids = merge_rankings([ids, near])
    if not ids:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT m.id, m.seq, a.name, m.payload ->> 'text', m.created_at FROM chats_message m"
            " LEFT JOIN actors_actor a ON a.id = m.author_id WHERE m.id = ANY(%s)"
            " AND m.payload ->> 'is_deleted' IS DISTINCT FROM 'true' AND NOT m.is_unused ORDER BY array_position(%s, m.id)",
            [ids, ids],
        )
        rows = cursor.fetchall()
    found: dict[str, FoundText] = {}
    for id, seq, name, content, at in rows:
        one = FoundText(id, seq, name or "", content or "", at)
        found.setdefault(" ".join(one.text.lower().split()), one)
    # The request itself, asked before, answers nothing.
    found.pop(" ".join(text.lower().split()), None)
    return list(found.values())[:limit]
