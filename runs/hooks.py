"""Hooks of runs. `config/hooks.py` lists their listeners."""

from common.hooks import Hook
from runs.models import Run

# A job (a run without a chat) ends: `state` and `answer` are set and not yet written. Listeners may lock chats, because no other
# lock is held.
job_ended: Hook[[Run]] = Hook("job_ended")
