"""Where an address came from, before a tool may open it (D9).

A stranger's text can talk a model into opening an address that carries words of the room away. Such an address is made
up by the model: nobody has said it. So one is opened only when a person named its host here, an editor wrote it into
the agent's text, or it stands, letter by letter, in what was read here.
"""

import re
from collections.abc import Callable, Iterable
from uuid import UUID

from django.db.models import Q, QuerySet
from yarl import URL

from chats.models import Message

NEWEST = 2_000
"""Lines of the log, counted from its end, that are looked through."""


def is_named(chat_id: UUID, prompt: str, url: str) -> bool:
    """Whether an agent with this prompt may open `url` from this chat. Raises nothing: what is no address is not named."""
    hosts = _hosts(url)
    if not hosts:
        return False
    if any(_names(prompt, host) for host in hosts):
        return True
    return _occurs(_said(chat_id), hosts, _names) or _occurs(_read(chat_id), {url}, _shows)


def _hosts(url: str) -> set[str]:
    """The host, as people write it and as it goes over the wire."""
    try:
        read = URL(url)
    except (ValueError, UnicodeError):
        return set()
    return {host.lower() for host in (read.host, read.raw_host) if host}


def _names(text: str, host: str) -> bool:
    """Whether the text has this host, not a longer one of which it is a part. Chinese stands beside it without a space."""
    return re.search(rf"(?<![a-z0-9_.-]){re.escape(host)}(?![a-z0-9-]|\.[a-z0-9-])", text.lower()) is not None


def _shows(text: str, url: str) -> bool:
    """Whether the text has this address, not a longer one that begins with it."""
    return re.search(rf"{re.escape(url)}(?=[.,;:!?]?(?:[\s)>\]\"'<|]|$))", text) is not None


def _said(chat_id: UUID) -> QuerySet[Message]:
    return _newest(chat_id).filter(Q(type="TEXT_MESSAGE", author__kind="human") | Q(type="COMPARISON"))


def _read(chat_id: UUID) -> QuerySet[Message]:
    return _newest(chat_id).filter(type="TOOL_RESPONSE", payload__status="ok")


def _newest(chat_id: UUID) -> QuerySet[Message]:
    rows = Message.objects.filter(chat=chat_id)
    last = rows.order_by("-seq").values_list("seq", flat=True).first() or 0
    return rows.filter(seq__gt=last - NEWEST)


def _occurs(rows: QuerySet[Message], words: Iterable[str], test: Callable[[str, str], bool]) -> bool:
    for word in words:
        found = rows.filter(payload__text__icontains=word).order_by("-seq").values_list("payload__text", flat=True)
        if any(test(text, word) for text in found[:100]):
            return True
    return False
