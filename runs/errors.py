"""Errors inside the execution of runs. No request of the API is answered with one of them."""

from dataclasses import dataclass
from uuid import UUID


class LeaseLost(Exception):
    """Another worker has the run, or it has ended: its worker stops at once and writes nothing (RUN3)."""


@dataclass
class RunStartFailed(Exception):
    """The database refused the rows that start a run, or aborted its preparation. The run is claimed again until `MAX_FAILURES`."""

    run_id: UUID


@dataclass
class RunNotAllowed(Exception):
    """The run may not continue. The web app has a text for each `code`; `text` is for logs and API clients."""

    code: str
    text: str
