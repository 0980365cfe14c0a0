"""Sessions in PostgreSQL, as Django keeps them; read with every request, so the question is compiled once."""

import re
from datetime import datetime
from typing import Any

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.db.models import QuerySet

from common.clock import now
from common.prepared_query import PreparedQuery


def _live(key: str, at: datetime) -> QuerySet[Session]:
    return Session.objects.filter(session_key=key, expire_date__gt=at)


_LIVE = PreparedQuery(_live, str, datetime)


_KEY = re.compile(r"[a-z0-9]{8,40}")


def is_session_key(text: str) -> bool:
    """Return whether `text` has the form of a session's key. Nothing else is ever looked up: a cookie may hold anything,
    and PostgreSQL refuses some of it, a NUL for one."""
    return _KEY.fullmatch(text) is not None


class SessionStore(DatabaseStore):
    """Named by `SESSION_ENGINE`."""

    def _validate_session_key(self, key: str | None) -> bool:
        return bool(key) and is_session_key(str(key))

    def exists(self, session_key: Any) -> bool:
        return self._validate_session_key(session_key) and super().exists(session_key)

    def _get_session_from_db(self) -> Session | None:
        session = _LIVE.first(self.session_key, now())
        if session is None:
            self._session_key = None
        return session
