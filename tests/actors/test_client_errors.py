"""Reports of errors of the web app: the log has their position, and no text of people."""

import logging

import pytest

from actors import rates
from actors.rates import LocalBuckets
from common.redis_client import redis_client
from tests.api.test_rights import client_for

REPORT = {
    "kind": "rendering",
    "name": "TypeError",
    "screen": "/w/$workspace/c/$chat",
    "frames": ["index-7y1qEw2y.js:1:20345", "chats-LLzUyTON.js:1:77"],
}


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.WARNING, logger="actors.api.client_errors")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "actors.api.client_errors"]


def report_error(team, who, **fields):
    return client_for(team, who)("POST", "client-errors", REPORT | fields).status_code


def test_an_error_is_one_log_line_with_its_name_and_position(team, lines):
    assert report_error(team, "bob") == 204
    assert lines() == [
        "Web app: TypeError (rendering) on /w/$workspace/c/$chat at index-7y1qEw2y.js:1:20345 chats-LLzUyTON.js:1:77"
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "Error: my secret text"},
        {"name": "A" * 61},
        {"screen": "/w/mine\nWARNING forged line"},
        {"screen": "/" + "a" * 101},
        {"frames": ["somebody said so"]},
        {"frames": ["a.js:1:2\n"]},
        {"frames": ["a.js:1:2"] * 9},
        {"message": "free text"},
    ],
)
def test_SEC17_only_positions_in_our_files_are_logged(team, lines, wrong):
    assert report_error(team, "bob", **wrong) == 400
    assert lines() == []


def test_SEC21_reports_of_errors_are_throttled(team, lines, settings, monkeypatch):
    monkeypatch.setattr(redis_client.breaker, "admit_call", lambda: False)
    monkeypatch.setattr(rates, "_local_buckets", LocalBuckets())
    settings.RATES = settings.RATES | {"client_errors": (0.001, 3), "all_client_errors": (0.001, 4)}
    assert [report_error(team, "bob") for _ in range(5)] == [204, 204, 204, 429, 429]
    assert [report_error(team, "alice") for _ in range(2)] == [204, 429]
    assert len(lines()) == 4
