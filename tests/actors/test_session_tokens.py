"""Session tokens of programs: the session is read once, and an unknown or expired one signs nobody in."""

from datetime import timedelta

import pytest
from django.conf import settings
from django.contrib.auth import HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.models import Session

from actors.services import people
from actors.services import sessions as actor_sessions
from actors.sessions import SessionStore
from common.clock import now
from tests.api.client import Api
from tests.people import make_operator
from tests.queries import record_statements
from tests.realtime.tab import create_session_key


def test_a_request_reads_its_session_once(team):
    api = Api(create_session_key(team.alice))
    with record_statements() as recorded:
        assert api.ok("GET", "me")["actor"]["id"] == str(team.alice.id)
    assert sum("django_session" in sql for sql, _ in recorded.statements) == 1


def test_an_unknown_or_expired_session_signs_nobody_in(team):
    expired = create_session_key(team.alice)
    Session.objects.filter(pk=expired).update(expire_date=now() - timedelta(seconds=1))
    for token in (expired, "a" * 32, "not a key"):
        Api(token).refused(401, "not_signed_in", "GET", "me")


@pytest.fixture(params=["cookie", "token"])
def api(request, team):
    """A client of Alice whose session has been used before."""
    key = create_session_key(team.alice)
    api = Api(key if request.param == "token" else None)
    if request.param == "cookie":
        api.client.cookies[settings.SESSION_COOKIE_NAME] = key
    api.ok("GET", "me")
    return api


def test_a_session_that_was_used_before_is_read_with_its_person_in_one_statement(team, api):
    with record_statements() as recorded:
        assert api.ok("GET", "me")["actor"]["id"] == str(team.alice.id)
    [read] = [sql for sql, _ in recorded.statements if "django_session" in sql]
    people_read = [sql for sql, _ in recorded.statements if sql.startswith('SELECT "actors_actor"')]
    assert people_read == [read]


def test_FAIR6_a_session_is_of_the_person_in_it_whomever_it_had_before(team, api):
    session = SessionStore(Session.objects.get().session_key)
    session[SESSION_KEY], session[HASH_SESSION_KEY] = str(team.bob.pk), team.bob.get_session_auth_hash()
    session.save()
    for _ in range(2):
        assert api.ok("GET", "me")["actor"]["id"] == str(team.bob.id)


def close_account(team):
    people.deactivate_person(make_operator(), team.alice.id)


def end_sessions(team):
    actor_sessions.end_sessions(team.alice)


def delete_session(team):
    Session.objects.all().delete()


def let_session_expire(team):
    Session.objects.update(expire_date=now() - timedelta(seconds=1))


@pytest.mark.parametrize("withdraw", [close_account, end_sessions, delete_session, let_session_expire])
def test_FAIR6_a_session_that_was_used_before_and_was_ended_signs_nobody_in(team, api, withdraw):
    withdraw(team)
    for _ in range(2):
        api.refused(401, "not_signed_in", "GET", "me")
