"""Session tokens of programs: the session is read once, and an unknown or expired one signs nobody in."""

from datetime import timedelta

from django.contrib.sessions.models import Session

from common.clock import now
from tests.api.client import Api
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
