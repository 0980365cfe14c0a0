"""Errors of runs, which no API client sees."""

from dataclasses import dataclass
from uuid import UUID


class LeaseLost(Exception):
    """The run was taken over or has ended: its worker stops at once and writes nothing (RUN3)."""


class RunNotStartable(Exception):
    """The database refused what had to be stored to start this run."""

    def __init__(self, run_id: UUID) -> None:
        super().__init__(f"Run {run_id} could not be started.")
        self.run_id = run_id


@dataclass
class RunNotAllowed(Exception):
    """A run may not work any more. `code` is one that the web app has a text for."""

    code: str
    text: str
