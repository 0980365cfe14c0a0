"""What can go wrong in this app alone."""

from dataclasses import dataclass
from uuid import UUID


class LeaseLost(Exception):
    """The run was taken over, or has ended: whoever finds this out stops at once, and nothing is written (RUN3)."""


class RunNotStartable(Exception):
    """The database refused what had to be stored to start this run."""

    def __init__(self, run_id: UUID) -> None:
        super().__init__(f"Run {run_id} could not be started.")
        self.run_id = run_id


@dataclass
class RunNotAllowed(Exception):
    """A run that may not work any more, and why: a code that the web app has a text for, and one English sentence."""

    code: str
    text: str
