"""The prepared queries of authentication, which run with every request and for every socket."""

from datetime import datetime
from uuid import UUID

from django.contrib.sessions.models import Session
from django.db.models import QuerySet

from actors.models import CAN_USE_TOKENS, Actor, ApiToken
from common.prepared_query import PreparedQuery


def _query_person(person_id: UUID) -> QuerySet[Actor]:
    return Actor.people.filter(pk=person_id, is_active=True)


def _query_unrevoked_token(digest: str) -> QuerySet[ApiToken]:
    return ApiToken.unrevoked.select_related("actor").filter(CAN_USE_TOKENS, digest=digest)


def _query_valid_session(key: str, at: datetime) -> QuerySet[Session]:
    return Session.objects.filter(session_key=key, expire_date__gt=at)


PERSON = PreparedQuery(_query_person, UUID)
TOKEN = PreparedQuery(_query_unrevoked_token, str)
VALID_SESSION = PreparedQuery(_query_valid_session, str, datetime)
