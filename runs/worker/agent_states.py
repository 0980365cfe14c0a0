"""Publish to workspaces which of their agents have started or stopped working, at most once a second."""

import asyncio
import logging
from collections.abc import Iterable
from uuid import UUID

from django.db import DatabaseError

from common.db_executor import DatabaseExecutor
from events.frames import AgentStates
from events.publish import publish_now
from runs.models import Run, RunState

logger = logging.getLogger(__name__)

PUBLISH_INTERVAL_SECONDS = 1.0

AgentKey = tuple[UUID, UUID]
"""The ids of a workspace and of an agent that has started or ended a run there."""


class AgentStateReporter:
    """The reporter of one process. `report_changes` and `run` are called on its event loop, `add_runs` from any thread. States
    are read from the database, because an agent may have runs in other processes, and read once more after they were published,
    because another process may have published an older state later."""

    def __init__(self, db: DatabaseExecutor) -> None:
        self._db = db
        self._changed: set[AgentKey] = set()
        self._reported: dict[AgentKey, bool] = {}

    def add_runs(self, runs: Iterable[Run]) -> None:
        """Add runs that have started, have ended, or have lost their process."""
        self._changed |= {(run.workspace_id, run.agent_id) for run in runs}

    async def run(self) -> None:
        """Publish changes every `PUBLISH_INTERVAL_SECONDS` until the task is cancelled."""
        while True:
            await asyncio.sleep(PUBLISH_INTERVAL_SECONDS)
            await self.report_changes()

    async def report_changes(self) -> None:
        """Publish the states that have changed since the last call."""
        changed, self._changed = self._changed, set()
        keys = changed | self._reported.keys()
        if not keys:
            return
        try:
            self._reported = await self._db(_publish_states, changed, dict(self._reported))
        except DatabaseError as error:
            logger.warning("The states of agents could not be read: %s", error)
            self._changed |= keys


def _publish_states(changed: set[AgentKey], reported: dict[AgentKey, bool]) -> dict[AgentKey, bool]:
    """Publish the states that differ from the published ones, and return them."""
    keys = changed | reported.keys()
    runs = Run.objects.filter(agent_id__in={agent_id for _, agent_id in keys}, state=RunState.RUNNING)
    working = set(runs.values_list("workspace_id", "agent_id"))
    states = {key: key in working for key in keys}
    new = {key: state for key, state in states.items() if key in changed or reported[key] != state}
    frames: dict[UUID, AgentStates] = {}
    for (workspace_id, agent_id), is_working in new.items():
        frame = frames.setdefault(workspace_id, AgentStates(topic=f"workspace:{workspace_id}"))
        (frame.working if is_working else frame.idle).append(agent_id)
    publish_now(*frames.values())
    return new
