"""Django's sessions in PostgreSQL, read by prepared queries."""

import re
from typing import Any

from allauth.headless.tokens.strategies.sessions import SessionTokenStrategy
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from actors.callers import find_person_of_session
from actors.models import Actor
from actors.prepared_queries import PERSON_WITH_SESSION, VALID_SESSION
from common.clock import now

_KEY = re.compile(r"[a-z0-9]{8,40}")


def is_session_key(text: str) -> bool:
    """Return whether `text` has the form of a session key. Other texts are not looked up: PostgreSQL refuses NUL, for example."""
    return _KEY.fullmatch(text) is not None


class SessionStore(DatabaseStore):
    """The session store (`SESSION_ENGINE`). The person for whom this process has last seen the session is read with it."""

    _person: Actor | None = None

    def _validate_session_key(self, key: str | None) -> bool:
        return bool(key) and is_session_key(str(key))

    def exists(self, session_key: Any) -> bool:
        return self._validate_session_key(session_key) and super().exists(session_key)

    def load(self) -> dict[str, Any]:
        key = self.session_key or ""
        person_id = find_person_of_session(key)
        person = PERSON_WITH_SESSION.first(person_id, key, now()) if person_id else None
        if person is None or person.session_data is None:
            data: dict[str, Any] = super().load()
            return data
        self._person = person
        return self.decode(person.session_data)

    def get_person(self) -> Actor | None:
        """Return the signed-in person of the session, as `django.contrib.auth.get_user` does."""
        person_id, person = self.get(SESSION_KEY), self._person
        if (
            person is not None
            and person_id == str(person.pk)
            and self.get(BACKEND_SESSION_KEY) in settings.AUTHENTICATION_BACKENDS
            and constant_time_compare(self.get(HASH_SESSION_KEY, ""), person.get_session_auth_hash())
        ):
            return person
        request = HttpRequest()
        request.session = self
        user = get_user(request)
        return user if isinstance(user, Actor) else None

    def _get_session_from_db(self) -> Session | None:
        session = VALID_SESSION.first(self.session_key, now())
        if session is None:
            self._session_key = None
        return session


class TokenStrategy(SessionTokenStrategy):  # type: ignore[misc]  # allauth has no types
    """How session tokens of programs are looked up (`HEADLESS_TOKEN_STRATEGY`): by one query, where the base class makes two."""

    def lookup_session(self, session_token: str) -> SessionStore | None:
        session = SessionStore(session_token)
        session.get(SESSION_KEY)  # reads the session; one that is unknown or expired has no key afterwards
        return session if session.session_key else None
