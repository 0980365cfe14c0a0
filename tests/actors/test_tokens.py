"""Personal API tokens: shown once, stored as a hash, with the rights of their person, and refused at once when they end."""

import hashlib
import logging
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client

from actors import services as actors
from actors.auth import find_token
from actors.models import ApiToken
from common.clock import now
from common.errors import LimitReached, NotFound
from common.logs import scrub
from events.models import AuditRecord
from tests.api.client import Api
from tests.api.operations import OPERATIONS
from tests.api.test_rights import client_for, fingerprint, send_operation
from tests.factories.actors import PASSWORD
from tests.people import make_operator


@pytest.fixture
def program(team):
    """An API client with a token of Alice."""
    api = Api()
    _, api.bearer = actors.create_token(team.alice, name="Deploy", days=30)
    return api


def test_SEC17_the_text_of_a_token_is_returned_once_and_only_its_hash_is_stored(team):
    alice = client_for(team, "alice")
    made = alice.ok("POST", "me/tokens", {"name": "Deploy", "days": 30, "password": PASSWORD})
    text = made["secret"]
    assert text.startswith("atl_")
    assert len(text) == 47  # 256 random bits
    token = ApiToken.objects.get()
    assert token.digest == hashlib.sha256(text.encode()).hexdigest()
    assert text not in repr(ApiToken.objects.values_list())
    [listed] = alice.ok("GET", "me/tokens")["results"]
    assert listed == made["token"]
    assert listed["prefix"] == text[:8]
    assert text not in str(listed)
    assert AuditRecord.objects.get(action="token.created").facts == {"name": "Deploy", "days": 30, "scope": "full"}


def test_a_token_acts_as_its_person_and_is_found_by_one_query(team, program, django_assert_num_queries):
    assert program.ok("GET", "me")["actor"]["id"] == str(team.alice.id)
    with django_assert_num_queries(1):
        token = find_token(program.bearer)
        assert token is not None
        assert token.actor == team.alice


@pytest.mark.parametrize("end", ["revoked", "expired", "deactivated"])
def test_a_revoked_or_expired_token_or_one_of_a_closed_account_is_refused_at_once(team, program, end):
    program.ok("GET", "me")
    if end == "revoked":
        client_for(team, "alice").ok("DELETE", f"me/tokens/{ApiToken.objects.get().id}")
    elif end == "expired":
        ApiToken.objects.update(expires_at=now())
    else:
        actors.deactivate_person(make_operator(), team.alice.id)
    answer = program("GET", "me")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "not_signed_in")
    assert answer["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize("text", ["", "atl_", "atl_wrong", "no token", "atl_" + "é" * 43, "x" * 5000])
def test_SEC7_an_invalid_token_is_refused_even_with_a_valid_session(team, text):
    api = client_for(team, "alice")
    api.ok("GET", "me")
    assert api.client.get("/api/v1/me", headers={"Authorization": f"Bearer {text}"}).status_code == 401


@pytest.mark.django_db
def test_SEC7_guessing_tokens_is_limited_by_ip_address(settings):
    settings.RATES = settings.RATES | {"anonymous": (0.01, 3)}
    guess = {"Authorization": "Bearer atl_guess"}
    answers = [Client().get("/api/v1/me", headers=guess, REMOTE_ADDR="10.9.8.7").status_code for _ in range(5)]
    assert answers == [401, 401, 401, 429, 429]


def test_SEC7_a_token_takes_from_its_persons_bucket(team, program, settings):
    settings.RATES = settings.RATES | {"requests": (0.01, 2)}
    client_for(team, "alice").ok("GET", "me")
    program.ok("GET", "me")
    assert program("GET", "me").status_code == 429


@pytest.mark.parametrize("path", ["account/password/change", "auth/session"])
def test_a_token_cannot_be_used_for_operations_of_allauth(program, path):
    headers = {"Authorization": f"Bearer {program.bearer}"}
    for client in ("browser", "app"):
        assert program.client.get(f"/_allauth/{client}/v1/{path}", headers=headers).status_code in (401, 405)


def test_a_person_has_at_most_twenty_tokens_without_revoked_ones(team):
    for number in range(20):
        token, _ = actors.create_token(team.alice, name=str(number), days=None)
    with pytest.raises(LimitReached):
        actors.create_token(team.alice, name="One too many", days=None)
    actors.revoke_token(team.alice, token.id)
    actors.create_token(team.alice, name="Instead", days=None)
    actors.create_token(team.bob, name="Somebody else's", days=None)


def test_the_last_use_is_written_once_a_minute(team, program, django_assert_num_queries):
    start = datetime(2026, 11, 22, 12, tzinfo=UTC)
    with time_machine.travel(start, tick=False) as clock:
        program.ok("GET", "me")
        clock.shift(timedelta(seconds=59))
        program.ok("GET", "me")
        assert ApiToken.objects.get().last_used_at == start
        clock.shift(timedelta(seconds=1))
        program.ok("GET", "me")
        assert ApiToken.objects.get().last_used_at == start + timedelta(minutes=1)


def test_a_changed_password_keeps_tokens(team, program):
    assert actors.set_password(team.alice, "another long password")
    with_session = client_for(team, "alice")
    with_session.ok("DELETE", "me/sessions")
    program.ok("GET", "me")


def test_revoking_is_recorded_once(team, program):
    token = ApiToken.objects.get()
    actors.revoke_token(team.alice, token.id)
    with pytest.raises(NotFound):
        actors.revoke_token(team.alice, token.id)
    assert AuditRecord.objects.filter(action="token.revoked", actor=team.alice).count() == 1


def test_SEC17_a_token_is_never_logged(program, caplog):
    with caplog.at_level(logging.DEBUG):
        program.ok("GET", "me")
        Api().client.get("/api/v1/me", headers={"Authorization": f"Bearer {program.bearer}x"})
    assert program.bearer not in caplog.text
    assert program.bearer not in scrub(f"somebody wrote {program.bearer} here")


def test_creating_a_token_requires_the_password(team):
    alice = client_for(team, "alice")
    for body in ({"name": "X"}, {"name": "X", "password": "not the password"}):
        assert alice("POST", "me/tokens", body).status_code == 400
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.method != "GET"])
def test_a_token_with_the_scope_read_cannot_change_anything(team_with_things, name):
    team, things = team_with_things
    things |= {"requester_id": str(team.bob.id)}
    api = Api()
    token, api.bearer = actors.create_token(team.alice, name="Reader", days=30, scope="read")
    actors.record_token_use(token)
    api.ok("GET", f"chats/{team.chat.id}/messages")
    before = fingerprint()
    answer = send_operation(api, OPERATIONS[name], things)
    assert answer.status_code == (404 if name == "confirm_email" else 403), answer.content
    assert fingerprint() == before
