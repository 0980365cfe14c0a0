"""The prepared queries of authentication, which run with every request and for every socket."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.sessions.models import Session
from django.db.models import QuerySet, Subquery

from actors.models import CAN_USE_TOKENS, Actor, ApiToken
from common.prepared_query import PreparedQuery


def _query_person(person_id: UUID) -> QuerySet[Actor]:
    return Actor.people.filter(pk=person_id, is_active=True)


def _query_unrevoked_token(digest: str) -> QuerySet[ApiToken]:
    return ApiToken.unrevoked.select_related("actor").filter(CAN_USE_TOKENS, digest=digest)


def _query_valid_session(key: str, at: datetime) -> QuerySet[Session]:
    return Session.objects.filter(session_key=key, expire_date__gt=at)


def _query_person_with_session(person_id: UUID, key: str, at: datetime) -> QuerySet[Actor]:
    sessions = _query_valid_session(key, at).values("session_data")[:1]
    return _query_person(person_id).annotate(session_data=Subquery(sessions))


PERSON = PreparedQuery(_query_person, UUID)
TOKEN = PreparedQuery(_query_unrevoked_token, str)
VALID_SESSION = PreparedQuery(_query_valid_session, str, datetime)
PERSON_WITH_SESSION: PreparedQuery[Any] = PreparedQuery(_query_person_with_session, UUID, str, datetime)
"""A person who may sign in. `session_data`: the data of a valid session, which may be another person's; null if it is not valid."""
