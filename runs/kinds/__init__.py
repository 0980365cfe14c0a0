"""The kinds of runs: a run in a chat, one side of a comparison, and a job without a chat."""

from runs.kinds.base import RunKind
from runs.kinds.chat import CHAT, COMPARISON
from runs.kinds.job import JOB
from runs.models import Run


def get_kind(run: Run) -> RunKind:
    """Return the operations of this run's kind."""
    if run.chat_id is None:
        return JOB
    return COMPARISON if run.is_compared else CHAT
