"""Hooks of runs. `config/hooks.py` lists their listeners."""

from common.hooks import Hook
from runs.models import Run

# Called when a job ends, before that is written: `state` and `answer` are set. No row is locked, so that listeners may lock
# chats.
job_ended: Hook[[Run]] = Hook("job_ended")
