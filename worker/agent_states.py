"""Publish to workspaces which of their agents have started or stopped working, at most once a second."""

import asyncio
import logging
from collections.abc import Iterable

from django.db import Error

from common.db_executor import DatabaseExecutor
from events.rows import AgentState
from runs.models import Run
from runs.services.agent_states import AgentKey, find_agent_states, publish_states

logger = logging.getLogger(__name__)

PUBLISH_INTERVAL_SECONDS = 1.0


class AgentStateReporter:
    """The reporter of one process. `report_changes` and `run` are called on its event loop, `add_runs` from any thread. States
    are read from the database, because an agent may have runs in other processes, and read once more after they were published,
    because another process may have published an older state later."""

    def __init__(self, db: DatabaseExecutor) -> None:
        self._db = db
        self._changed: set[AgentKey] = set()
        self._reported: dict[AgentKey, AgentState] = {}

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
            self._reported = await self._db(_publish_changed, changed, dict(self._reported))
        except Error as error:
            logger.warning("The states of agents could not be read: %s", error)
            self._changed |= keys


def _publish_changed(changed: set[AgentKey], reported: dict[AgentKey, AgentState]) -> dict[AgentKey, AgentState]:
    """Publish the states of the agents in `changed`, and of those whose state differs from the one in `reported`. Return them."""
    states = find_agent_states(changed | reported.keys())
    new = {key: state for key, state in states.items() if key in changed or reported[key] != state}
    publish_states(new)
    return new
