"""Errors of runs, which no API client sees."""

from dataclasses import dataclass
from uuid import UUID


class LeaseLost(Exception):
    """Another worker has the run, or it has ended: its worker stops at once and writes nothing (RUN3)."""


@dataclass
class RunStartFailed(Exception):
    """The database refused the rows that start this run. It is queued, and is claimed again until `MAX_FAILURES`."""

    run_id: UUID


@dataclass
class RunNotAllowed(Exception):
    """The run may not continue. The web app has a text for each `code`; `text` is for logs and API clients."""

    code: str
    text: str
