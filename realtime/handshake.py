"""Authenticating WebSocket handshakes, and checking their origin (SEC6)."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session
from django.http.cookie import parse_cookie
from django.http.request import split_domain_port, validate_host
from django.utils.crypto import constant_time_compare

from actors import services as actors
from actors.auth import find_tokens, list_viewings, parse_bearer_token
from actors.models import TOKEN_PREFIX, VIEWING_KEY, Actor
from actors.sessions import is_session_key
from common.clock import now
from realtime.rights import SocketSignIn


@dataclass(frozen=True, slots=True)
class Handshake:
    """The credential of a handshake, and whether its origin is allowed. `credential`: a session key, an API token or null."""

    credential: str | None
    is_allowed: bool


def read_handshake(headers: Iterable[tuple[bytes, bytes]]) -> Handshake:
    """Return the credential in the headers. With a cookie the origin is checked, because browsers send cookies for any page."""
    values = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in headers}
    if (text := parse_bearer_token(values.get("authorization", ""))) is not None:
        return Handshake(text if text.startswith(TOKEN_PREFIX) else None, is_allowed=True)
    if key := values.get("x-session-token"):
        return Handshake(_parse_credential(key), is_allowed=True)
    key = parse_cookie(values.get("cookie", "")).get(settings.SESSION_COOKIE_NAME, "")
    return Handshake(_parse_credential(key), _is_allowed_origin(values.get("origin", ""), values.get("host", "")))


def _parse_credential(key: str) -> str | None:
    """Return the key if it has the form of a session key. An API token is valid only in its own header, as in REST."""
    return key if is_session_key(key) else None


def _is_allowed_origin(origin: str, host: str) -> bool:
    """Return whether the origin is one of `CSRF_TRUSTED_ORIGINS`, or this host and port with the host in `ALLOWED_HOSTS`."""
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    domain, _ = split_domain_port(host)
    try:
        scheme, netloc, *rest = urlsplit(origin) if origin.isprintable() else ("", "", "")
    except ValueError:  # not a URL, for example `http://[`
        return False
    return (
        scheme in ("http", "https")
        and not any(rest)
        and netloc.lower() == host.lower()
        and bool(domain)
        and validate_host(domain, settings.ALLOWED_HOSTS)
    )


def find_sign_ins(keys: Collection[str]) -> dict[str, tuple[Actor, SocketSignIn]]:
    """Return the actor and the sign-in for each of these session keys and API tokens. Invalid ones are left out.

    Two queries, and more if there are tokens or operators who view as other people.
    """
    tokens = {key for key in keys if key.startswith(TOKEN_PREFIX)}
    return _find_by_session(set(keys) - tokens) | (_find_by_token(tokens) if tokens else {})


def _find_by_token(texts: Collection[str]) -> dict[str, tuple[Actor, SocketSignIn]]:
    found = {}
    for text, token in find_tokens(texts).items():
        actors.record_token_use(token)
        sign_in = SocketSignIn(
            session_key="", actor_id=token.actor_id, session_hash="", token_id=token.pk, is_read_only=token.is_read_only
        )
        found[text] = (token.actor, sign_in)
    return found


def _find_by_session(session_keys: Collection[str]) -> dict[str, tuple[Actor, SocketSignIn]]:
    """Return the people of valid sessions.

    A session is invalid if it has expired, is anonymous, is older than the last change of the password, or if its person
    may not sign in. While an operator views the web app as another person (`Viewing`), that person is returned for the session of
    the operator.
    """
    sessions = Session.objects.filter(session_key__in=session_keys, expire_date__gt=now())
    decoded = {session.session_key: session.get_decoded() for session in sessions}
    ids = {data[SESSION_KEY] for data in decoded.values() if SESSION_KEY in data}
    people: dict[str | None, Actor] = {
        str(person.pk): person for person in Actor.people.filter(pk__in=ids, is_active=True)
    }
    viewing_ids = {data[VIEWING_KEY] for data in decoded.values() if VIEWING_KEY in data}
    viewings = {str(viewing.pk): viewing for viewing in list_viewings(viewing_ids)} if viewing_ids else {}
    found = {}
    for key, data in decoded.items():
        person = people.get(data.get(SESSION_KEY))
        if person is None or not _is_verified(person, data):
            continue
        sign_in = SocketSignIn(key, person.pk, person.get_session_auth_hash())
        viewing = viewings.get(data.get(VIEWING_KEY, ""))
        if viewing is not None and viewing.operator_id == person.pk:
            sign_in = replace(sign_in, actor_id=viewing.person_id, operator_id=person.pk, viewing_id=viewing.pk)
            found[key] = (viewing.person, sign_in)
        else:
            found[key] = (person, sign_in)
    return found


def _is_verified(person: Actor, data: Mapping[str, Any]) -> bool:
    """Return whether the session passes the checks of `django.contrib.auth.get_user`."""
    hashes = [person.get_session_auth_hash(), *person.get_session_auth_fallback_hash()]
    stored = data.get(HASH_SESSION_KEY, "")
    return data.get(BACKEND_SESSION_KEY) in settings.AUTHENTICATION_BACKENDS and any(
        constant_time_compare(stored, current) for current in hashes
    )
