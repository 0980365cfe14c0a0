"""Hooks of runs. `config/hooks.py` lists their listeners."""

from common.hooks import Hook
from runs.models import Run

# A job ends: `state` and `answer` are set and not yet written. No row is locked, so that listeners may lock chats.
job_ended: Hook[[Run]] = Hook("job_ended")
