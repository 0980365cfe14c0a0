"""FAIR1: a throttled person or address is refused again without a query, Redis or a thread."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from actors import services as actors
from actors.callers import find_caller
from agents.permissions import AgentVerb, get_agent_for
from common.clock import now
from common.errors import LimitReached
from common.ids import get_lowest_id_at
from common.redis_client import RedisClient
from common.tenants import remember_workspace
from config.asgi import identify_caller
from tests.publishing.publications import publish
from tests.realtime.tab import create_session_key

pytestmark = pytest.mark.django_db
SLOW = 0.01


def scope(headers, path="/api/v1/me", address="10.1.2.3"):
    """Return the ASGI scope of a request."""
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    return {"type": "http", "path": path, "headers": raw, "client": (address, 5)}


def ask(headers, address="10.1.2.3"):
    return Client().get("/api/v1/me", headers=headers, REMOTE_ADDR=address).status_code


def credentials_of(person):
    """Return the credentials of a person, each as the headers of a request."""
    key, app = create_session_key(person), create_session_key(person)
    _, token = actors.create_token(person, name="Program", days=None)
    return {
        "cookie": {"Cookie": f"theme=dark; sessionid={key}"},
        "session token": {"X-Session-Token": app},
        "API token": {"Authorization": f"Bearer {token}"},
    }


def test_a_person_is_found_by_every_credential_that_has_signed_them_in(team):
    for name, headers in credentials_of(team.alice).items():
        assert find_caller(scope(headers)["headers"]) == (None, True), name
        assert ask(headers) == 200
        assert find_caller(scope(headers)["headers"]) == (team.alice.id, True), name


def test_a_credential_that_did_not_sign_in_has_no_person(team):
    good, junk = credentials_of(team.alice)["session token"], {"Cookie": f"sessionid={'a' * 32}"}
    assert ask(good | junk) == 200
    assert find_caller(scope(good | junk)["headers"]) == (team.alice.id, True)
    assert find_caller(scope(junk)["headers"]) == (None, True)
    assert identify_caller(scope(junk)).is_unidentified
    assert identify_caller(scope(good)) == identify_caller(scope(good | junk, address="10.9.9.9"))


def test_a_throttled_person_is_refused_again_at_once_and_others_are_not(team, settings, monkeypatch):
    settings.RATES = settings.RATES | {"requests": (SLOW, 1)}
    mine = credentials_of(team.alice)
    bobs = credentials_of(team.bob)["cookie"]
    assert ask(bobs) == 200
    assert ask(mine["cookie"]) == 200
    assert [ask(headers) for headers in mine.values()] == [429] * 3
    asked = []
    monkeypatch.setattr(RedisClient, "call", lambda *args: asked.append(args))
    with CaptureQueriesContext(connection) as queries:
        for headers in mine.values():
            with pytest.raises(LimitReached) as refusal:
                identify_caller(scope(headers))
            assert refusal.value.data == {"limit": "requests", "seconds": 100}
            identify_caller(scope(headers, path="/_allauth/browser/v1/auth/session"))  # has limits of its own
        assert identify_caller(scope(bobs)).key == ("requests", team.bob.id)
    assert len(queries) == 0
    assert asked == []


def test_a_refusal_ends_when_the_bucket_has_a_token(team, settings):
    settings.RATES = settings.RATES | {"requests": (50, 1)}
    mine = credentials_of(team.alice)["cookie"]
    while ask(mine) != 429:
        pass
    while True:
        try:
            identify_caller(scope(mine))
        except LimitReached:
            continue
        break


def test_anonymous_requests_of_an_address_are_refused_and_those_of_people_are_not(team, settings):
    settings.RATES = settings.RATES | {"anonymous": (SLOW, 1)}
    here = f"2001:db8:{uuid4().hex[:4]}::1"
    assert [ask({}, here) for _ in range(2)] == [401, 429]
    with pytest.raises(LimitReached):
        identify_caller(scope({}, address=here))
    # Whoever names a credential may be a person: only the database knows.
    assert identify_caller(scope({"X-Session-Token": "a" * 32}, address=here)).is_unidentified
    mine = credentials_of(team.alice)["cookie"]
    assert ask(mine, here) == 200
    assert not identify_caller(scope(mine, address=here)).is_unidentified


def test_FAIR1_a_request_counts_for_the_workspace_in_which_its_person_used_a_right(team):
    mine = credentials_of(team.alice)["cookie"]
    new = ("new", identify_caller(scope({})).key)
    assert ask(mine) == 200
    assert identify_caller(scope(mine)).path[:2] == (new, new)
    # A foreign workspace in the path does not count, so nobody uses up what is others'.
    for workspace, status in ((team.workspace, 200), (team.elsewhere, 404)):
        path = f"/api/v1/workspaces/{workspace.id}"
        assert Client().get(f"{path}/chats", headers=mine).status_code == status
        assert identify_caller(scope(mine, path)).path[:2] == (new, team.workspace.id)
    # Nor does a public agent, which belongs to no workspace.
    public = publish(team)
    get_agent_for(team.alice, public.id, AgentVerb.SEE)
    assert identify_caller(scope(mine)).path[:2] == (new, team.workspace.id)


def test_FAIR1_new_workspaces_of_an_address_share_a_group_and_old_ones_do_not(team):
    mine = credentials_of(team.alice)["cookie"]
    assert ask(mine) == 200
    remember_workspace(team.alice.id, team.workspace.id)
    assert identify_caller(scope(mine)).group != identify_caller(scope(mine, address="10.9.9.9")).group
    old = get_lowest_id_at(now() - timedelta(days=2))
    remember_workspace(team.alice.id, old)
    assert identify_caller(scope(mine)).path == (old, old, identify_caller(scope(mine)))
