"""Hooks that runs call; the listeners and their order are in `config/hooks.py`."""

from common.hooks import Hook
from runs.models import Run

# A job (a run without a chat) has ended: `state` and `answer` are set, not yet written. Listeners may take chats: nothing
# else is held.
job_ended: Hook[[Run]] = Hook("job_ended")
