"""A workspace for tests of jobs, which records the ends of jobs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction

from actors.models import Actor
from runs.kinds.job import Job, JobInput
from runs.models import Run
from runs.services.runs import start_job
from suggestions.run_kinds import SUMMARY
from tests.runs.environment import RunEnvironment


@dataclass
class JobEnvironment:
    """Shorthand for tests of jobs. `recorded_ends` has (state, answer, error code) of each end that was committed; `listen` is
    called within the transaction of an end, and may raise."""

    environment: RunEnvironment
    recorded_ends: list[tuple[str, str, str]] = field(default_factory=list)
    listen: Callable[[Run], None] = lambda run: None

    def on_runs_ended(self, runs: Sequence[Run]) -> None:
        """The listener of `runs_ended`."""
        [run] = runs
        self.listen(run)
        ended = (str(run.state), run.answer, run.error_code)
        transaction.on_commit(lambda: self.recorded_ends.append(ended))

    def start(
        self,
        kind: Job = SUMMARY,
        *,
        subject_id: UUID | None = None,
        by: Actor | None = None,
        data: dict[str, Any] | None = None,
    ) -> Run:
        """Start a job for Alice, and submit it to the engine, if there is one, as Celery would."""
        team = self.environment.team
        job_input = JobInput("What would be different?", data or {"texts": ["a"]}, expected=400)
        with transaction.atomic():
            run = start_job(
                by or team.alice,
                team.workspace.id,
                kind=kind,
                subject_id=subject_id or uuid4(),
                job_input=job_input,
            )
        if self.environment.engine is not None:
            self.environment.engine.submit([run.id])
        return run

    def wait_for(self, run: Run, seconds: float = 60) -> Run:
        """Return the job once it has ended."""
        self.environment.wait_until_idle(seconds)
        run.refresh_from_db()
        return run
