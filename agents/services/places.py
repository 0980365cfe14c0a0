"""Where a run works, as far as holding, writing and ending it differ by that: in a chat, or, when it is a job, nowhere."""

import logging
from collections.abc import Sequence
from typing import Literal, Protocol

from django.db import InterfaceError, OperationalError, transaction

from actors.models import Actor
from agents.errors import LeaseLost
from agents.models import Run, RunState
from agents.seams import job_ended
from agents.services.endings import ending, over
from chats import services as chats
from chats.models import InChat

logger = logging.getLogger(__name__)

Broken = Literal[RunState.STOPPED, RunState.FAILED]


class Place(Protocol):
    """What is done to a run wherever it works. The writes are fenced by the run's `only_if`, and raise `LeaseLost`."""

    def hold(self, run: Run) -> None:
        """Take what comes before the run in the order of locks."""
        ...

    def write(self, run: Run, rows: Sequence[InChat] = ()) -> None:
        """Store what was set on the run, and rows that change with it."""
        ...

    def end(self, run: Run, state: Broken, *, by: Actor | None = None, code: str = "", text: str = "") -> None:
        """End it otherwise than by its answer, so that who waits for it sees."""
        ...


class InRoom:
    """A run in a chat: all is seen there."""

    def hold(self, run: Run) -> None:
        chats.hold_chat(run.room_id)

    def write(self, run: Run, rows: Sequence[InChat] = ()) -> None:
        chats.changed(run.room_id, rows=[*(row for row in rows if row is not run), run])

    def end(self, run: Run, state: Broken, *, by: Actor | None = None, code: str = "", text: str = "") -> None:
        chats.changed(run.room_id, rows=ending(run, state, agent=run.agent, by=by, code=code, text=text))


class AsJob:
    """A job: nobody watches it, and whoever wanted it hears of its end (`job_ended`)."""

    def hold(self, run: Run) -> None:
        """Listeners take chats, and a run comes after those: so nothing is held yet, and the fence alone decides."""

    def write(self, run: Run, rows: Sequence[InChat] = ()) -> None:
        run.write()

    def end(self, run: Run, state: Broken, *, by: Actor | None = None, code: str = "", text: str = "") -> None:
        over(run, state, code=code, text=text)
        try:
            with transaction.atomic():
                job_ended(run)
        except (LeaseLost, OperationalError, InterfaceError):
            raise
        except Exception:
            # A listener that breaks each time must not keep the job alive for ever, and the sweeper busy with it.
            logger.exception("Nobody could be told how the job %s ended.", run.pk)
        run.write()

    def complete(self, run: Run, answer: str) -> None:
        """End it by its answer; what a listener raises is raised here, so that the answer counts wholly or not at all."""
        over(run, RunState.COMPLETED)
        run.set(answer=answer)
        job_ended(run)
        run.write()


IN_ROOM, AS_JOB = InRoom(), AsJob()


def place_of(run: Run) -> Place:
    """Where this run works."""
    return AS_JOB if run.chat_id is None else IN_ROOM
