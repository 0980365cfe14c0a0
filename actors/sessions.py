"""Django's sessions in PostgreSQL, read by a prepared query."""

import re
from typing import Any

from allauth.headless.tokens.strategies.sessions import SessionTokenStrategy
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session

from actors.prepared_queries import VALID_SESSION
from common.clock import now

_KEY = re.compile(r"[a-z0-9]{8,40}")


def is_session_key(text: str) -> bool:
    """Return whether `text` has the form of a session key. Other texts are not looked up: PostgreSQL refuses NUL, for example."""
    return _KEY.fullmatch(text) is not None


class SessionStore(DatabaseStore):
    """The session store (`SESSION_ENGINE`)."""

    def _validate_session_key(self, key: str | None) -> bool:
        return bool(key) and is_session_key(str(key))

    def exists(self, session_key: Any) -> bool:
        return self._validate_session_key(session_key) and super().exists(session_key)

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
