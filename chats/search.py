"""The words of messages, by which they are searched: pairs of adjacent Chinese, Japanese or Korean characters, and the words of all
other scripts.

The column `words` of messages is made by the function `search_words_v1` of the database (`chats/migrations/0003_message_words.py`).
It is no field of `Message`, because every read of a message would then load it.
"""

import re
import unicodedata
from collections.abc import Iterable

from django.db import connection
from django.db.models import BooleanField
from django.db.models.expressions import RawSQL

MAX_TERMS = 32
"""Words and pairs of a query that are searched; the rest is ignored."""
MAX_QUERY = 2_000
"""Characters of a query that are read."""
_CJK_CHARACTERS = re.compile("[\u2e80-\u2fdf\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
"""Characters that are searched in pairs, the same as in the function of the database."""


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
