"""Search in the directory: each word of a query must occur in the text of a listing.

A word is searched as a part of the text, so that Chinese, which has no spaces, needs no list of words. The texts are short, and a
directory has thousands of them, not millions: no index is needed.
"""

from collections.abc import Iterable

from django.db.models import Q

from common.text import normalize_for_comparison

MAX_WORDS = 8


def build_search_text(name: str, handle: str, texts: Iterable[str]) -> str:
    """Return the stored text of a listing, which has a line for each text."""
    return "\n".join(normalize_for_comparison(text) for text in (name, handle, *texts) if text)


def replace_name(search_text: str, name: str, handle: str) -> str:
    """Return the stored text of a listing with another name and handle."""
    return build_search_text(name, handle, search_text.split("\n")[2:])


def build_search_condition(query: str) -> Q:
    """Return the condition for public agents that contain the first `MAX_WORDS` words of the query. Agents that come with the
    release have no listing; their name, handle and description are searched."""
    condition = Q()
    for word in normalize_for_comparison(query).split()[:MAX_WORDS]:
        own = Q(name__icontains=word) | Q(handle__icontains=word) | Q(description__icontains=word)
        condition &= Q(listing__search_text__contains=word) | Q(listing=None) & own
    return condition
