"""What people do with runs: stopping one, asking again."""

from uuid import UUID

from actors.models import Actor
from agents.models import Run


def stop_run(*, actor: Actor, run_id: UUID) -> Run:
    """Stop a run and everything it started."""
    raise NotImplementedError


def retry_run(*, actor: Actor, run_id: UUID) -> Run:
    """Ask again after a run that failed or was stopped: a new run on the same message."""
    raise NotImplementedError
