"""FAIR7: anonymous clients do not affect people: malformed keys cause no query, and a lookup with an error fails alone."""

import asyncio
import logging

import pytest
from django.db import DataError, OperationalError
from django.test import Client

from actors import rates
from actors.rates import LocalBuckets
from common.logs import ThrottledWarning
from realtime.batches import Batched
from realtime.db_executor import run_in_db_thread
from realtime.handshake import find_sign_ins, read_handshake
from tests.realtime.tab import create_session_key

NUL = r'"\000aaaaaaaa"'
BAD_KEYS = [
    NUL,
    r'"\377\376aaaaaaaa"',
    "short",
    "a" * 41,
    "UPPERCASE0",
    "aaaaaaaa%00",
    "aaaaaaaa'--",
    '"aaaaaaaa\\012"',
]


def headers(cookie):
    return [
        (b"host", b"localhost:8000"),
        (b"origin", b"http://localhost:8000"),
        (b"cookie", f"sessionid={cookie}".encode()),
    ]


@pytest.mark.parametrize("key", BAD_KEYS)
def test_FAIR7_a_malformed_session_key_is_not_looked_up(key):
    asked = read_handshake(headers(key))
    assert (asked.credential, asked.is_allowed) == (None, True)


@pytest.mark.parametrize(
    "origin", ["http://[", "http://[::1", "http://]", "http://[x]", "//", "http:///", "\x00", "http://℀.com"]
)
@pytest.mark.parametrize("host", ["localhost:8000", "[", "[::1", "a:b:c", ""])
def test_FAIR7_a_malformed_origin_is_refused(origin, host):
    headers = [(b"origin", origin.encode()), (b"host", host.encode()), (b"cookie", b"sessionid=" + b"a" * 32)]
    assert not read_handshake(headers).is_allowed


@pytest.mark.parametrize("key", [*BAD_KEYS, "a" * 32])
@pytest.mark.parametrize("path", ["/api/v1/me", "/_allauth/browser/v1/auth/session", "/admin/"])
def test_FAIR7_a_request_with_a_bad_cookie_is_anonymous(db, key, path):
    client = Client(raise_request_exception=True)
    answer = client.get(path, headers={"cookie": f"sessionid={key}"})
    assert answer.status_code in (401, 302, 404)


@pytest.mark.parametrize("key", ["a\x00aaaaaaaa", "é" * 9, "a" * 32, "x" * 5000])
def test_FAIR7_a_request_with_a_bad_session_token_is_anonymous(db, key):
    for path in ("/api/v1/me", "/_allauth/app/v1/auth/session"):
        assert Client().get(path, headers={"X-Session-Token": key}).status_code in (401, 410)


class RecordedStatements:
    """Returns keys below a hundred as their values, and records the batches."""

    def __init__(self, error):
        self.error = error
        self.batches = []

    def __call__(self, questions):
        self.batches.append(sorted(questions))
        if any(question >= 100 for question in questions):
            raise self.error
        return {question: question for question in questions}


async def ask_all(batched, questions):
    return await asyncio.gather(*(batched(question) for question in questions), return_exceptions=True)


async def test_FAIR7_a_key_with_an_error_fails_alone():
    asked = RecordedStatements(DataError("no such text"))
    batched = Batched(asked)
    answers = await ask_all(batched, [*range(31), 100])
    assert answers[:31] == list(range(31))
    assert isinstance(answers[31], DataError)
    assert len(asked.batches) == 1 + 2 * 5  # halves
    assert await ask_all(batched, [1, 2]) == [1, 2]


async def test_FAIR7_an_error_of_the_database_is_raised_for_all_keys_after_one_call():
    asked = RecordedStatements(OperationalError("away"))
    answers = await ask_all(Batched(asked), [*range(31), 100])
    assert {type(answer) for answer in answers} == {OperationalError}
    assert len(asked.batches) == 1


async def test_FAIR7_people_can_connect_during_handshakes_with_bad_cookies(team, tabs):
    key = await run_in_db_thread(create_session_key, team.alice)
    assert set(await run_in_db_thread(find_sign_ins, {key, "a" * 32})) == {key}
    bad = [tabs.with_headers(headers(key)) for key in (*BAD_KEYS, "a" * 32) for _ in range(4)]
    good = [tabs.with_headers(headers(key)) for _ in range(10)]
    await asyncio.gather(*(tab.connect() for tab in (*bad, *good)))
    assert [await tab.wait_for_close() for tab in bad] == [4003] * len(bad)
    for tab in good:
        assert (await tab.subscribe(f"chat:{team.chat.pk}"))["type"] == "subscribed"


async def test_FAIR7_too_many_anonymous_handshakes_from_an_address_are_refused_and_those_of_people_are_not(
    team, tabs, settings, monkeypatch
):
    settings.RATES = settings.RATES | {"anonymous": (0.01, 3)}
    monkeypatch.setattr(rates, "_local_buckets", LocalBuckets())
    strangers = [tabs.with_headers(headers("a" * 32)) for _ in range(5)]
    assert [await tab.connect() for tab in strangers] == [True] * 3 + [False] * 2
    alice = await tabs.open_tab(team.alice)
    assert (await alice.subscribe(f"chat:{team.chat.pk}"))["type"] == "subscribed"


def test_FAIR7_anonymous_requests_to_allauth_are_throttled_and_those_of_people_are_not(team, settings):
    key = create_session_key(team.alice)
    settings.RATES = settings.RATES | {"anonymous": (0.01, 3)}
    client, path = Client(REMOTE_ADDR="198.51.100.77"), "/_allauth/browser/v1/auth/session"
    assert [client.get(path).status_code for _ in range(5)] == [401, 401, 401, 429, 429]
    assert client.get(path).json()["error"]["data"]["limit"] == "anonymous"
    client.cookies["sessionid"] = key
    assert client.get(path).status_code == 200


def test_FAIR7_errors_that_outsiders_can_cause_are_logged_at_a_limited_rate(caplog):
    warning = ThrottledWarning(logging.getLogger("of a test"), "It failed")
    for number in range(100):
        warning.warn(f"reason {number} " + "x" * 10_000)
    assert [len(record.getMessage()) < 300 for record in caplog.records] == [True]
    assert caplog.records[0].exc_info is None
    warning._next = 0.0
    warning.warn("again")
    assert "99 more" in caplog.records[1].getMessage()
