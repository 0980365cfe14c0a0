"""The words of messages, by which they are searched: pairs of adjacent Chinese, Japanese or Korean characters, and the words of all
other scripts; and the excerpts around the words that were found.

The column `words` of messages is made by the function `search_words_v1` of the database (`chats/migrations/0003_message_words.py`)
of their texts, or of the names of files (`chats/migrations/0005_message_search.py`). It is no field of `Message`, because every
read of a message would then load it.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache

from django.db import connection
from django.db.models import BooleanField, DecimalField
from django.db.models.expressions import RawSQL

from common.markdown import strip_markdown
from events.payloads import TextRange

MAX_TERMS = 32
"""Words and pairs of a query that are searched; the rest is ignored."""
MAX_QUERY = 2_000
"""Characters of a query that are read."""
MAX_WORD = 40
"""Characters of a word that are searched."""
MAX_SEARCHED = 100_000
"""Characters of a text that are searched."""
MAX_COMPARED = 20_000
"""Characters of a text that are compared with the query as a whole."""
MAX_PLACES = 20
"""Places of each word of a query that are compared to choose the excerpt."""
_CJK = "\u2e80-\u2fdf\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_CHARACTERS = re.compile(f"[{_CJK}]+")
"""Characters that are searched in pairs, the same as in the function of the database."""
_WORD_CHARACTER = rf"[^\W{_CJK}]"
"""A character of a word of another script."""
_PART_OF_WORD = re.compile(f"{_WORD_CHARACTER}+")
_SEQUENCES = re.compile(f"[{_CJK}]+|{_WORD_CHARACTER}+")


def split_terms(query: str) -> list[str]:
    """Return the terms of a query for `tsquery`, each once: the beginning of a word, a pair of characters, or one character, which
    finds the pairs that begin with it. Sends at most one SQL statement: `search_words_v1` splits the words, as it does for
    messages."""
    text = unicodedata.normalize("NFKC", query[:MAX_QUERY])
    terms: list[str] = []
    for part in _CJK_CHARACTERS.findall(text):
        terms += [quote_term(part[at : at + 2]) for at in range(len(part) - 1)] or [f"{quote_term(part)}:*"]
    rest = _CJK_CHARACTERS.sub(" ", text)
    if rest.strip():
        with connection.cursor() as cursor:
            cursor.execute("SELECT unnest(tsvector_to_array(search_words_v1(%s)))", [rest])
            terms += [f"{quote_term(word)}:*" for (word,) in cursor.fetchall()]
    return list(dict.fromkeys(terms))[:MAX_TERMS]


def quote_term(word: str) -> str:
    """Return a word as a lexeme of a `tsquery`."""
    escaped = word.replace("\\", "\\\\").replace("'", "''")
    return f"'{escaped}'"


def has_words(query: str) -> RawSQL:
    """Return the condition for messages that this `tsquery` matches."""
    return RawSQL('"chats_message"."words" @@ %s::tsquery', [query], output_field=BooleanField())


def has_all_terms(terms: Iterable[str]) -> RawSQL:
    """Return the condition for messages that contain all these terms."""
    return has_words(" & ".join(terms))


def build_score(terms: Sequence[str], query: str) -> RawSQL:
    """Return the expression for how well a message matches: better if the words of these terms are whole in it, and if the query
    occurs as it is written; worse if the message is long, which has more words by chance."""
    whole = [term.removesuffix(":*") for term in terms]
    found = " + ".join(['("chats_message"."words" @@ %s::tsquery)::int'] * len(whole)) or "0"
    text = """coalesce("chats_message"."payload" ->> 'text', "chats_message"."payload" ->> 'name')"""
    phrase = f"2 * (strpos(lower(left({text}, {MAX_COMPARED})), lower(%s)) > 0)::int"
    return RawSQL(
        f'round(((1 + {found} + {phrase}) / (3 + ln(1 + length("chats_message"."words"))))::numeric, 6)',
        [*whole, query.strip()],
        output_field=DecimalField(max_digits=12, decimal_places=6),
    )


def split_sequences(query: str) -> tuple[str, ...]:
    """Return the words of a query and its sequences of Chinese, Japanese or Korean characters, in lower case and each once, as they
    are looked for in a text."""
    text = unicodedata.normalize("NFKC", query[:MAX_QUERY]).lower()
    return tuple(dict.fromkeys(found[:MAX_WORD] for found in _SEQUENCES.findall(text)))[:MAX_TERMS]


def build_excerpt(text: str, query: str, *, before: int, after: int) -> tuple[str, list[TextRange]]:
    """Return the part of a text around the place that has most words of a query, as one line without the signs of Markdown, and
    where in it they are.

    It has up to `before` characters before the first of these words, and `after` behind it. If no word is found, because it is
    written with other characters than in the query, it is the beginning of the text.
    """
    sequences = split_sequences(query)
    at, length = _find_densest_place(_fold(text[:MAX_SEARCHED]), sequences, after)
    start, end = max(0, at - before), at + length + after
    if start and (rest := _PART_OF_WORD.match(text, start, at)) and rest.end() - start < MAX_WORD:
        start = rest.end()  # The end of a word could look like a word of the query.
    part, opening, ending = text[start:end], "…" if start else "", "…" if end < len(text) else ""
    excerpt = f"{opening}{_join_lines(strip_markdown(part))}{ending}"
    if marks := find_marks(excerpt, sequences):
        return excerpt, marks
    # The words are in the target of a link.
    excerpt = f"{opening}{_join_lines(part)}{ending}"
    return excerpt, find_marks(excerpt, sequences)


def _join_lines(text: str) -> str:
    return " ".join(text.split())


def find_marks(text: str, sequences: tuple[str, ...]) -> list[TextRange]:
    """Return where these words and sequences (`split_sequences`) are in a short text: the beginnings of words, and a sequence as a
    whole or its pairs of characters."""
    pattern = _compile_marks(sequences)
    return [TextRange(start=match.start(), end=match.end()) for match in pattern.finditer(text)] if pattern else []


def _fold(text: str) -> str:
    """Return the text in lower case and with ordinary letters for full-width ones, as far as all characters keep their places."""
    normalized = unicodedata.normalize("NFKC", text).lower()
    return normalized if len(normalized) == len(text) else text.lower()


def _find_densest_place(text: str, sequences: Sequence[str], width: int) -> tuple[int, int]:
    """Return the first place from which most of the words are within `width` characters, and the length of the word there; zeros if
    there is none."""
    places = sorted((at, one) for one in sequences for at in _find_places(text, one))
    best, most = (0, 0), 0
    for index, (at, word) in enumerate(places):
        near = {other for place, other in places[index:] if place < at + width}
        if len(near) > most:
            best, most = (at, len(word)), len(near)
    return best


def _find_places(text: str, sequence: str) -> list[int]:
    """Return the first places of a word or a sequence; of a sequence that is nowhere as a whole, those of its first pair."""
    is_cjk = _CJK_CHARACTERS.match(sequence) is not None
    for searched in (sequence, sequence[:2]) if is_cjk else (sequence,):
        places: list[int] = []
        at = text.find(searched)
        for _ in range(10 * MAX_PLACES):
            if at < 0 or len(places) == MAX_PLACES:
                break
            if is_cjk or at == 0 or not re.match(_WORD_CHARACTER, text[at - 1]):
                places.append(at)
            at = text.find(searched, at + 1)
        if places:
            return places
    return []


@lru_cache(maxsize=64)
def _compile_marks(sequences: tuple[str, ...]) -> re.Pattern[str] | None:
    """Return the pattern of the words and sequences, the longest first; null if there is none."""
    parts: dict[str, None] = {}
    for one in sorted(sequences, key=len, reverse=True):
        if _CJK_CHARACTERS.match(one):
            parts[one] = None
        else:
            # Full-width letters and digits equal ordinary ones.
            characters = (f"[{c}{chr(ord(c) + 0xFEE0)}]" if c.isascii() else re.escape(c) for c in one)
            parts[f"(?<!{_WORD_CHARACTER}){''.join(characters)}"] = None
    for one in sequences:
        if _CJK_CHARACTERS.match(one):
            parts |= {one[at : at + 2]: None for at in range(len(one) - 1)}
    return re.compile("|".join(parts), re.IGNORECASE) if parts else None
