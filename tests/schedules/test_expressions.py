"""Cron expressions: which are allowed, and when they are due across changes of the clock."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from common.errors import Invalid
from schedules.expressions import find_last_time, list_next_times, normalize_expression

AFTER = datetime(2026, 1, 1, tzinfo=UTC)


def list_local_times(expression, after, *, count, zone="Europe/Berlin"):
    times = list_next_times(expression, zone, after=after, count=count)
    return [time.astimezone(ZoneInfo(zone)).strftime("%m-%d %H:%M%z") for time in times]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (" 0  8 * * mon-fri ", "0 8 * * MON-FRI"),
        ("@daily", "0 0 * * *"),
        ("@Weekly", "0 0 * * 0"),
        ("*/5 * * * *", "*/5 * * * *"),
        ("0,5 0 1 1 *", "0,5 0 1 1 *"),
    ],
)
def test_an_expression_is_stored_with_five_fields(given, stored):
    assert normalize_expression(given, "Asia/Taipei", after=AFTER) == stored


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("0 8 * *", "fields"),
        ("0 0 8 * * *", "fields"),  # six fields would be seconds
        ("@reboot", "fields"),
        ("0 25 * * *", "syntax"),
        ("hello a b c d", "syntax"),
        ("0 0 31 2 *", "syntax"),
        ("* * * * *", "too_often"),
        ("*/4 * * * *", "too_often"),
        ("58,0 * * * *", "too_often"),
    ],
)
def test_an_expression_that_is_not_allowed_is_refused_with_its_problem(given, problem):
    with pytest.raises(Invalid) as refused:
        normalize_expression(given, "Asia/Taipei", after=AFTER)
    assert refused.value.data == {"problem": problem}
    assert refused.value.hints


def test_a_time_zone_that_does_not_exist_is_refused():
    with pytest.raises(Invalid) as refused:
        normalize_expression("0 8 * * *", "Asia/Nowhere", after=AFTER)
    assert refused.value.data == {"problem": "time_zone"}


def test_a_time_that_the_clock_skips_in_spring_runs_when_the_clock_goes_on():
    after = datetime(2026, 3, 28, 12, tzinfo=UTC)
    assert list_local_times("30 2 * * *", after, count=2) == ["03-29 03:00+0200", "03-30 02:30+0200"]


def test_times_that_are_close_on_the_day_of_a_new_clock_only_are_allowed():
    assert normalize_expression("3 2,3 * * *", "Europe/Berlin", after=datetime(2026, 3, 1, tzinfo=UTC)) == "3 2,3 * * *"


def test_a_time_that_the_clock_repeats_in_autumn_runs_once():
    after = datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert list_local_times("30 2 * * *", after, count=2) == ["10-25 02:30+0200", "10-26 02:30+0100"]


def test_every_quarter_of_an_hour_goes_on_through_the_hour_that_is_repeated():
    after = datetime(2026, 10, 25, 0, 10, tzinfo=UTC)
    times = list_next_times("*/15 * * * *", "Europe/Berlin", after=after, count=8)
    assert [(later - earlier).seconds for earlier, later in zip(times, times[1:], strict=False)] == [900] * 7


@pytest.mark.parametrize(
    ("until", "found"),
    [
        (datetime(2026, 3, 1, 8, 0, tzinfo=UTC), datetime(2026, 3, 1, 8, 0, tzinfo=UTC)),
        (datetime(2026, 3, 1, 8, 4, 59, tzinfo=UTC), datetime(2026, 3, 1, 8, 0, tzinfo=UTC)),
        (datetime(2026, 3, 1, 7, 59, 30, tzinfo=UTC), datetime(2026, 3, 1, 7, 55, tzinfo=UTC)),
    ],
)
def test_the_last_time_is_not_after_the_given_one(until, found):
    assert find_last_time("*/5 * * * *", "Europe/Berlin", until=until) == found
