"""Creating, changing and deleting schedules, and waking agents when they are due."""

from schedules.services.changing import change_schedule, create_schedule, delete_schedule, run_schedule_now
from schedules.services.firing import delete_old_times, fire_due_schedules, fire_schedule

__all__ = [
    "change_schedule",
    "create_schedule",
    "delete_old_times",
    "delete_schedule",
    "fire_due_schedules",
    "fire_schedule",
    "run_schedule_now",
]
