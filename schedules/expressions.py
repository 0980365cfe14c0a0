"""Cron expressions: which are allowed, and when they are due. Times follow the clock of a time zone.

If neither the minute nor the hour of an expression begins with `*`, cronsim moves a time that the clock skips in spring to the next
time that exists, and a time that the clock repeats in autumn is due once. Otherwise the one is left out and the other is due twice.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module
from itertools import islice
from typing import Any, Literal
from zoneinfo import ZoneInfo, available_timezones

from common.errors import Code, Invalid

MIN_DISTANCE = timedelta(minutes=5)
"""The smallest distance of two times of a schedule."""
CHECKED_TIMES = 200
"""Times whose distances are checked. The minutes of an expression are the same in each of its hours, so these show the smallest."""
NICKNAMES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}

Problem = Literal["fields", "syntax", "never", "too_often", "time_zone"]


def normalize_expression(expression: str, time_zone: str, *, after: datetime) -> str:
    """Return the expression with five fields, separated by one space. Raises `Invalid` (`schedule_invalid`) with the problem in its
    data: not five fields, a field that is not understood, a time that never comes, times that are too close, no such time zone."""
    if time_zone not in available_timezones():
        raise _build_invalid("time_zone", "There is no such time zone.", "Use a name such as Asia/Taipei.")
    words = expression.split()
    fields = NICKNAMES.get(" ".join(words).lower(), " ".join(words)).upper()
    if len(fields.split()) != 5:
        hint = (
            "They are minute, hour, day of the month, month and day of the week: 0 8 * * 1-5 is working days at 08:00."
        )
        raise _build_invalid("fields", "An expression has five fields.", hint)
    try:
        # By a clock that is never changed: in spring, a time that is moved may come close to the next one.
        times = list(islice(iterate_times(fields, "UTC", after=after), CHECKED_TIMES))
    except ValueError as error:
        raise _build_invalid("syntax", f"This expression is not understood: {error}.", "0 8 * * 1-5") from error
    if not times:
        raise _build_invalid("never", "This time never comes.", "Use a day that the month has.")
    if any(later - earlier < MIN_DISTANCE for earlier, later in zip(times, times[1:], strict=False)):
        minutes = MIN_DISTANCE.seconds // 60
        raise _build_invalid("too_often", f"Two times are at least {minutes} minutes apart.", "*/5 * * * *")
    return fields


def iterate_times(expression: str, time_zone: str, *, after: datetime) -> Iterator[datetime]:
    """Yield the times after this one, in UTC. Raises `ValueError` for an expression that is not understood."""
    return _iterate_times(expression, time_zone, after)


def find_last_time(expression: str, time_zone: str, *, until: datetime) -> datetime | None:
    """Return the last time that is not after this one. It is searched backwards, so the number of missed times does not matter."""
    times = _iterate_times(expression, time_zone, until + timedelta(minutes=1), reverse=True)
    return next((time for time in times if time <= until), None)


def _iterate_times(expression: str, time_zone: str, start: datetime, *, reverse: bool = False) -> Iterator[datetime]:
    # Imported when it is first needed, by few processes.
    cronsim: Any = import_module("cronsim")
    try:
        times = cronsim.CronSim(expression, start.astimezone(ZoneInfo(time_zone)), reverse)
    except cronsim.CronSimError as error:
        raise ValueError(str(error)) from error
    for time in times:
        yield time.astimezone(UTC)


def list_next_times(expression: str, time_zone: str, *, after: datetime, count: int = 3) -> list[datetime]:
    """Return the next times after this one."""
    return list(islice(iterate_times(expression, time_zone, after=after), count))


def _build_invalid(problem: Problem, message: str, hint: str) -> Invalid:
    return Invalid(message, code=Code.SCHEDULE_INVALID, hints=[hint], data={"problem": problem})
