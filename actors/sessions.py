"""Sessions in PostgreSQL, as Django keeps them; read with every request, so the question is compiled once."""

from datetime import datetime

from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.models import Session
from django.db.models import QuerySet

from common.clock import now
from common.compiled import Compiled


def _live(key: str, at: datetime) -> QuerySet[Session]:
    return Session.objects.filter(session_key=key, expire_date__gt=at)


_LIVE = Compiled(_live, str, datetime)


class SessionStore(DatabaseStore):
    """Named by `SESSION_ENGINE`."""

    def _get_session_from_db(self) -> Session | None:
        session = _LIVE.first(self.session_key, now())
        if session is None:
            self._session_key = None
        return session
