"""Who may open a socket: from where (SEC6), and as whom."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session
from django.http.cookie import parse_cookie
from django.http.request import split_domain_port, validate_host
from django.utils.crypto import constant_time_compare

from actors import services as actors
from actors.auth import token_said, tokens_behind
from actors.models import TOKEN_PREFIX, Actor
from actors.sessions import is_session_key
from common.clock import now
from realtime.rights import Ticket


@dataclass(frozen=True, slots=True)
class Knock:
    """What a handshake says: the key of a session or an API token, and whether the page that asks may use it."""

    session_key: str | None
    may_enter: bool


def knock(headers: Iterable[tuple[bytes, bytes]]) -> Knock:
    """Read a handshake. A token in a header comes from a program that means it; a cookie comes from any page."""
    said = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}
    if (text := token_said(said.get("authorization", ""))) is not None:
        return Knock(text if text.startswith(TOKEN_PREFIX) else None, may_enter=True)
    if key := said.get("x-session-token"):
        return Knock(_session(key), may_enter=True)
    key = parse_cookie(said.get("cookie", "")).get(settings.SESSION_COOKIE_NAME, "")
    return Knock(_session(key), _is_ours(said.get("origin", ""), said.get("host", "")))


def _session(key: str) -> str | None:
    """The key if it can be a session's. An API token counts where API tokens belong, as in REST."""
    return key if is_session_key(key) else None


def _is_ours(origin: str, host: str) -> bool:
    """The page was served by us: it has the very host and port that it asks now, and we answer to that host."""
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    domain, _ = split_domain_port(host)
    try:
        scheme, netloc, *rest = urlsplit(origin) if origin.isprintable() else ("", "", "")
    except ValueError:  # no address at all, such as `http://[`
        return False
    return (
        scheme in ("http", "https")
        and not any(rest)
        and netloc.lower() == host.lower()
        and bool(domain)
        and validate_host(domain, settings.ALLOWED_HOSTS)
    )


def people_behind(keys: Collection[str]) -> dict[str, tuple[Actor, Ticket]]:
    """The active people whom sessions and API tokens belong to; what is no good is left out. Two queries, and one when
    there are tokens."""
    tokens = {key for key in keys if key.startswith(TOKEN_PREFIX)}
    return _by_session(set(keys) - tokens) | (_by_token(tokens) if tokens else {})


def _by_token(texts: Collection[str]) -> dict[str, tuple[Actor, Ticket]]:
    found = tokens_behind(texts)
    for token in found.values():
        actors.note_use(token)
    return {
        text: (token.person, Ticket("", token.person_id, "", token.pk, token.is_read_only))
        for text, token in found.items()
    }


def _by_session(session_keys: Collection[str]) -> dict[str, tuple[Actor, Ticket]]:
    """A session is left out when it is dead, unfinished, from before the last change of the password, or of nobody who
    may sign in."""
    alive = Session.objects.filter(session_key__in=session_keys, expire_date__gt=now())
    said = {session.session_key: session.get_decoded() for session in alive}
    people = _people({data[SESSION_KEY] for data in said.values() if SESSION_KEY in data})
    found = {}
    for key, data in said.items():
        person = people.get(data.get(SESSION_KEY))
        if person is not None and _opened(person, data):
            found[key] = (person, Ticket(key, person.pk, person.get_session_auth_hash()))
    return found


def _people(ids: Collection[str]) -> dict[str | None, Actor]:
    return {str(person.pk): person for person in Actor.people.filter(pk__in=ids, is_active=True)}


def _opened(person: Actor, data: Mapping[str, Any]) -> bool:
    """What Django's `get_user` asks of a session."""
    stamps = [person.get_session_auth_hash(), *person.get_session_auth_fallback_hash()]
    said = data.get(HASH_SESSION_KEY, "")
    return data.get(BACKEND_SESSION_KEY) in settings.AUTHENTICATION_BACKENDS and any(
        constant_time_compare(said, stamp) for stamp in stamps
    )
