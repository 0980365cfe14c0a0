"""Throttling (SEC21): buckets that all processes share, and those of a process while Redis is down."""

import time
from uuid import uuid4

import pytest
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext

from actors import rates
from actors.rates import LocalBuckets, get_anonymous_bucket, throttle
from common.errors import LimitReached
from common.redis_client import RedisClient, redis_client
from tests.api.client import Api, message_body
from tests.api.test_rights import client_for

UNLIMITED = dict.fromkeys(("requests", "posts", "workspace_posts", "jobs", "anonymous"), (0, 0))
SLOW = 0.01
"""A rate of one in a hundred seconds, so that no bucket refills during a test."""


@pytest.fixture
def limits(settings):
    def to(**limited):
        settings.RATES = UNLIMITED | limited

    return to


@pytest.fixture
def _no_redis(monkeypatch):
    monkeypatch.setattr(redis_client.breaker, "admit_call", lambda: False)
    monkeypatch.setattr(rates, "_local_buckets", LocalBuckets())


def take_tokens(*buckets):
    """Return the number of tokens that could be taken, and the error."""
    for count in range(100):
        try:
            throttle(*buckets)
        except LimitReached as error:
            return count, error
    raise AssertionError("There was no end of it.")


def test_SEC21_requests_beyond_the_burst_are_refused_with_the_seconds_to_wait(limits):
    limits(posts=(SLOW, 5))
    count, refusal = take_tokens(("posts", uuid4()))
    assert count == 5
    assert refusal.data == {"limit": "posts", "seconds": 100}


def test_SEC21_a_bucket_refills_with_time(limits):
    limits(posts=(20, 1))
    whose = ("posts", uuid4())
    assert take_tokens(whose)[0] == 1
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if take_tokens(whose)[0]:
            return
    raise AssertionError("It stayed empty.")


def test_SEC21_each_person_has_a_bucket(limits):
    limits(posts=(SLOW, 2))
    assert [take_tokens(("posts", uuid4()))[0] for _ in range(3)] == [2, 2, 2]


def test_SEC21_a_refused_request_takes_from_no_bucket(limits):
    limits(posts=(SLOW, 5), workspace_posts=(SLOW, 2))
    person, workspace = ("posts", uuid4()), ("workspace_posts", uuid4())
    count, refusal = take_tokens(person, workspace)
    assert (count, refusal.data["limit"]) == (2, "workspace_posts")
    assert take_tokens(person)[0] == 3


@pytest.mark.usefixtures("_no_redis")
def test_SEC21_without_redis_each_process_applies_the_same_limits(limits):
    limits(posts=(SLOW, 5), workspace_posts=(SLOW, 2))
    person, workspace = ("posts", uuid4()), ("workspace_posts", uuid4())
    count, refusal = take_tokens(person, workspace)
    assert (count, refusal.data) == (2, {"limit": "workspace_posts", "seconds": 100})
    assert take_tokens(person)[0] == 3


@pytest.mark.usefixtures("_no_redis")
def test_SEC21_a_process_keeps_no_more_buckets_than_it_has_capacity_for(limits, monkeypatch):
    monkeypatch.setattr(rates, "MAX_LOCAL_BUCKETS", 10)
    monkeypatch.setattr(rates, "_local_buckets", LocalBuckets())
    limits(posts=(SLOW, 5))
    for _ in range(50):
        throttle(("posts", uuid4()))
    assert len(rates._local_buckets._full) == 10


def test_SEC21_a_throttled_person_gets_the_seconds_to_wait(team, limits):
    limits(posts=(SLOW, 3))
    api, path = client_for(team, "alice"), f"chats/{team.chat.id}/messages"
    for number in range(3):
        api.ok("POST", path, message_body(f"number {number}"))
    answer = api("POST", path, message_body("one too many"))
    assert answer.status_code == 429
    assert answer["Retry-After"] == "100"
    assert answer.json()["error"]["code"] == "limit_reached"
    assert answer.json()["error"]["data"] == {"limit": "posts", "seconds": 100}
    assert not team.chat.messages.filter(payload__text="one too many").exists()
    client_for(team, "bob").ok("POST", path, message_body("another person"))


def test_SEC21_ten_times_too_many_are_nearly_all_refused(team, limits):
    limits(posts=(SLOW, 5))
    api, path = client_for(team, "alice"), f"chats/{team.chat.id}/messages"
    answers = [api("POST", path, message_body("again")) for _ in range(50)]
    refused = [answer for answer in answers if answer.status_code == 429 and answer["Retry-After"]]
    assert len(refused) == 45


def test_SEC21_posts_are_limited_for_each_workspace(team, limits):
    limits(workspace_posts=(SLOW, 3))
    path = f"chats/{team.chat.id}/messages"
    alice, bob = client_for(team, "alice"), client_for(team, "bob")
    for api in (alice, bob):
        api.ok("POST", path, message_body("hello"))  # who is let in becomes known here
    alice.ok("POST", path, message_body("one"))
    bob.ok("POST", path, message_body("two"))
    alice.ok("POST", path, message_body("three"))
    assert bob("POST", path, message_body("four")).status_code == 429


def test_SEC21_an_outsider_cannot_take_from_the_bucket_of_a_workspace(team, limits):
    limits(workspace_posts=(SLOW, 2))
    path = f"chats/{team.chat.id}/messages"
    charlie, alice = client_for(team, "charlie"), client_for(team, "alice")
    for _ in range(10):
        charlie.refused(404, "not_found", "POST", path, message_body("let me in"))
    for text in ("known", "one", "two"):
        alice.ok("POST", path, message_body(text))


def test_SEC21_other_requests_are_limited_for_each_person(team, limits):
    limits(requests=(SLOW, 3))
    alice = client_for(team, "alice")
    for _ in range(3):
        alice.ok("GET", "me")
    assert alice.refused(429, "limit_reached", "GET", "workspaces")["data"]["limit"] == "requests"
    client_for(team, "bob").ok("GET", "me")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("join/nothing", {}, 404),
        ("me", {}, 401),
        ("me", {"X-Session-Token": "guess"}, 401),
    ],
)
def test_SEC21_anonymous_requests_are_limited_for_each_ip_address(limits, path, headers, status):
    limits(anonymous=(SLOW, 2))
    here, there = (f"2001:db8:{uuid4().hex[:4]}::1" for _ in range(2))

    def ask(address):
        return Api().client.get(f"/api/v1/{path}", headers=headers, REMOTE_ADDR=address).status_code

    assert [ask(here) for _ in range(3)] == [status, status, 429]
    assert ask(there) == status


def test_an_ipv6_network_counts_as_one_ip_address():
    requests = [RequestFactory().get("/", REMOTE_ADDR=f"2001:db8:0:1::{end}") for end in (1, 2)]
    assert get_anonymous_bucket(requests[0]) == get_anonymous_bucket(requests[1])
    assert get_anonymous_bucket(RequestFactory().get("/", REMOTE_ADDR="2001:db8:0:2::1")) != get_anonymous_bucket(
        requests[0]
    )


def test_SEC21_throttling_takes_one_round_trip_to_redis_and_no_query(team, limits, monkeypatch):
    api, path = client_for(team, "alice"), f"chats/{team.chat.id}/messages"
    api.ok("POST", path, message_body("known here"))

    def queries():
        with CaptureQueriesContext(connection) as found:
            api.ok("POST", path, message_body("counted"))
        return len(found)

    without = queries()
    limits(requests=(50, 300), posts=(50, 300), workspace_posts=(50, 300))
    asked = []
    call = RedisClient.call

    def counted(self, command, default):
        asked.append(default)
        return call(self, command, default)

    monkeypatch.setattr(RedisClient, "call", counted)
    assert queries() == without
    assert len(asked) == 1
