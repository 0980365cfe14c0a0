"""Hooks of schedules. `config/hooks.py` lists their listeners."""

from actors.models import Actor
from common.hooks import Hook
from schedules.models import Schedule

# Called when an active schedule is paused. Arguments: the schedule, the actor who removed its owner or its agent from the chat
# (None: it is paused for another reason).
schedule_paused: Hook[[Schedule, Actor | None]] = Hook("schedule_paused")
# Called when a schedule could not be fired because of an error. It is fired again later.
schedule_failed: Hook[[Schedule]] = Hook("schedule_failed")
