"""Who may open a socket: from where (D6), and as whom (guarantees §2.11)."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.http.cookie import parse_cookie
from django.http.request import split_domain_port, validate_host

from actors.models import Actor
from realtime.rights import Ticket


@dataclass(frozen=True, slots=True)
class Knock:
    """What a handshake says: the key of a session, and whether the page that asks may use it."""

    session_key: str | None
    may_enter: bool


def knock(headers: Iterable[tuple[bytes, bytes]]) -> Knock:
    """Read a handshake. A token in a header comes from a program that means it; a cookie comes from any page."""
    said = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}
    if token := said.get("x-session-token"):
        return Knock(token, may_enter=True)
    cookies = parse_cookie(said.get("cookie", ""))
    return Knock(cookies.get(settings.SESSION_COOKIE_NAME), _is_ours(said.get("origin", ""), said.get("host", "")))


def _is_ours(origin: str, host: str) -> bool:
    """The page was served by us: it has the very host and port that it asks now, and we answer to that host."""
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    domain, _ = split_domain_port(host)
    scheme, netloc, *rest = urlsplit(origin) if origin.isprintable() else ("", "", "")
    return (
        scheme in ("http", "https")
        and not any(rest)
        and netloc.lower() == host.lower()
        and bool(domain)
        and validate_host(domain, settings.ALLOWED_HOSTS)
    )


def person_behind(session_key: str) -> tuple[Actor, Ticket] | None:
    """The active person whom a session belongs to; null when it is dead, unfinished, or of nobody who may sign in."""
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    person = get_user(request)
    if not isinstance(person, Actor):
        return None
    return person, Ticket(session_key, person.pk, person.get_session_auth_hash())
