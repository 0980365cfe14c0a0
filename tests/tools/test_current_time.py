"""The time at a place, by zone and by city, also in Chinese."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from actors.models import Actor
from system_tools.current_time import ALIASES, CurrentTime, find_zone
from tools.interface import ToolContext, ToolError

NOON = datetime(2026, 7, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def ask(monkeypatch):
    monkeypatch.setattr("system_tools.current_time.now", lambda: NOON)
    context = ToolContext(actor=Actor(name="Scribe"), on_behalf_of=None, chat_id=None, run_id=uuid4(), call_id="call_1")
    return lambda place: CurrentTime().run(context, CurrentTime.Args(timezone=place))


def test_the_result_has_the_date_the_time_the_weekday_and_the_zone(ask):
    assert ask("Asia/Tokyo") == "2026-07-01 21:00:00 (Wednesday), Asia/Tokyo, UTC+09:00"


@pytest.mark.parametrize(
    ("place", "zone"),
    [
        ("Tokyo", "Asia/Tokyo"),
        ("東京", "Asia/Tokyo"),
        ("东京", "Asia/Tokyo"),
        ("北京", "Asia/Shanghai"),
        ("臺北", "Asia/Taipei"),
        ("台北市", "Asia/Taipei"),
        ("香港", "Asia/Hong_Kong"),
        ("new york", "America/New_York"),
        ("New York, USA", "America/New_York"),
        ("纽约", "America/New_York"),
        ("São Paulo", "America/Sao_Paulo"),
        ("europe/paris", "Europe/Paris"),
        ("UTC", "UTC"),
        ("San Francisco", "America/Los_Angeles"),
    ],
)
def test_a_city_is_found_in_any_script_and_case(place, zone):
    found = find_zone(place)
    assert found is not None
    assert found.key == zone


def test_every_zone_that_has_other_names_exists():
    assert [zone for zone in ALIASES if find_zone(zone) is None] == []


def test_summer_time_is_considered(ask):
    assert ask("London").endswith("UTC+01:00")


def test_the_error_for_an_unknown_place_suggests_names(ask):
    with pytest.raises(ToolError, match="Did you mean Europe/Berlin"):
        ask("Berlim")


@pytest.mark.parametrize("place", ["../etc/passwd", "Mars/Olympus", "\x00", "x" * 80])
def test_nonsense_is_an_error_and_never_a_file(ask, place):
    with pytest.raises(ToolError):
        ask(place)
