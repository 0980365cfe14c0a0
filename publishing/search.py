"""Search in the directory: each word of a query must occur in the text of a listing.

A word is searched as a part of the text, so that Chinese, which has no spaces, needs no list of words. The texts are short, and a
directory has thousands of them, not millions: no index is needed (docs/publishing.md).
"""

import unicodedata
from collections.abc import Iterable

from django.db.models import Q

from common.text import to_storable

MAX_WORDS = 8


def normalize_text(text: str) -> str:
    """Return the text in the form in which it is searched: small letters, and full-width letters as ordinary ones."""
    return " ".join(unicodedata.normalize("NFKC", to_storable(text)).casefold().split())


def build_search_text(texts: Iterable[str]) -> str:
    """Return the stored text of a listing."""
    return "\n".join(normalize_text(text) for text in texts if text)


def build_search_condition(query: str) -> Q:
    """Return the condition for public agents that contain all words of the query. Agents that come with the release have no
    listing; their name, handle and description are searched."""
    condition = Q()
    for word in normalize_text(query).split()[:MAX_WORDS]:
        own = Q(name__icontains=word) | Q(handle__icontains=word) | Q(description__icontains=word)
        condition &= Q(listing__search_text__contains=word) | Q(listing=None) & own
    return condition
