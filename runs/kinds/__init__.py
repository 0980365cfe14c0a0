"""The kinds of runs: a run in a chat, one side of a comparison, the run of a sub-agent, and a job without a chat."""

from runs.kinds.base import RunKind
from runs.kinds.chat import CHAT, COMPARISON
from runs.kinds.job import JOB
from runs.kinds.sub_agent import SUB_AGENT
from runs.models import Run


def get_kind(run: Run) -> RunKind:
    """Return the operations of this run's kind."""
    if run.chat_id is None:
        return JOB
    if run.is_sub_agent:
        return SUB_AGENT
    return COMPARISON if run.is_compared else CHAT
