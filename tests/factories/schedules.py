"""Factories of schedules."""

from datetime import timedelta

from factory.declarations import LazyFunction, SelfAttribute
from factory.django import DjangoModelFactory

from common.clock import now
from schedules.models import Schedule, ScheduledTime


class ScheduleFactory(DjangoModelFactory[Schedule]):
    """A schedule of `agent` in `chat` for `owner`, which is due in an hour."""

    class Meta:
        model = Schedule

    workspace = SelfAttribute("chat.workspace")
    name = "Morning"
    instructions = "Sum up the news."
    expression = "0 8 * * *"
    time_zone = "Asia/Taipei"
    next_at = LazyFunction(lambda: now() + timedelta(hours=1))


class ScheduledTimeFactory(DjangoModelFactory[ScheduledTime]):
    """A time at which a schedule was due."""

    class Meta:
        model = ScheduledTime

    due_at = LazyFunction(now)
