"""The run of a sub-agent: it does a task that another agent has given it, in the same chat (`runs/runtime/sub_agents.py`)."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _

from agents.selectors import find_answering_spec
from chats import services as chats
from common.writing import RowUpdate
from runs.errors import RunNotAllowed
from runs.kinds.base import build_run_update
from runs.kinds.task import TaskRun
from runs.models import KindName, Run, RunState
from runs.permissions import lock_chat_of_tasks
from runs.prepared_queries import RUNS_TO_CLAIM
from runs.runtime.claimed_run import ClaimedRun
from runs.runtime.history import read_started_calls
from tools.selectors import parse_policies


class SubAgentRun(TaskRun):
    """The run of a task that a run of another agent has given, which waits for it."""

    name = KindName.SUB_AGENT
    label = KindName.SUB_AGENT.label
    retry_refusal = _("The agent that gave this task asks again, or you retry its reply.")

    def claim_siblings(self, waiting: Sequence[Run], owner: str) -> list[ClaimedRun]:
        """Start the first attempts of queued runs of one caller in the current transaction: the chat is locked once, and one frame
        is published. What `prepare` needs is read once for all. Raises `RunNotAllowed` or `LeaseLost` if one cannot start."""
        chat = lock_chat_of_tasks(waiting)
        runs: list[Any] = RUNS_TO_CLAIM.all([run.pk for run in waiting])
        answering = {agent.id: find_answering_spec(agent, chat.id) for agent in {run.agent for run in runs}}
        updates: list[RowUpdate[Run]] = []
        calls = read_started_calls(ClaimedRun(waiting[0])).of_other_runs
        for run in runs:
            found = answering[run.agent_id]
            if found is None or run.stop_requested_at is not None:
                raise RunNotAllowed("not_startable", "`claim_run` ends this run.")
            run.chat = chat
            update = build_run_update(run, state=RunState.QUEUED, attempt=0)
            spec, stamp = found
            updates.append(self.start(update, owner, spec, stamp.model_dump(mode="json")).set(read_to=chat.version))
        chats.save_changes(chat.id, updates)
        # They are in one chat and work for one person.
        stored = self.build_stored_settings(runs[0], runs[0].model_settings)
        return [
            ClaimedRun(
                run,
                usage_rules=run.usage_rules,
                stored_settings=stored,
                tool_policies=parse_policies(run.tool_policies),
                calls_of_other_runs=calls,
            )
            for run in runs
        ]


SUB_AGENT = SubAgentRun()
