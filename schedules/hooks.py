"""Hooks of schedules. `config/hooks.py` lists their listeners."""

from actors.models import Actor
from common.hooks import Hook
from schedules.models import Schedule

# Called when an active schedule is paused, with the actor who has removed its owner or agent from the chat, if it was one.
schedule_paused: Hook[[Schedule, Actor | None]] = Hook("schedule_paused")
