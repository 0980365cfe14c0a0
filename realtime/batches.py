"""Questions of many sockets, asked as one."""

import asyncio
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db import InterfaceError, OperationalError

from realtime.db_executor import run_in_db_thread

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Failure:
    """What `work` raised for one question."""

    error: Exception


class Batched(Generic[Question, Answer]):
    """Asks `work` for many at once: what comes while it is under way waits, and goes together. So a thousand who come
    back at the same moment cost a few reads instead of a thousand (MSG6), and nobody gets an answer that was read before
    they asked (MSG5, SEC5). When `work` fails for many, they are asked in halves, so that a question which cannot be answered
    fails alone (FAIR7); unless the database is away, which is the same for all.
    """

    def __init__(self, work: Callable[[Collection[Question]], Mapping[Question, Answer]]) -> None:
        self._work = work
        self._questions: set[Question] = set()
        self._next: asyncio.Task[Mapping[Question, Answer | Failure]] | None = None
        self._under_way: asyncio.Task[Mapping[Question, Answer | Failure]] | None = None

    async def __call__(self, question: Question) -> Answer | None:
        """The answer; null when there is none. Raises what `work` raised for this question."""
        if self._next is None:
            self._next = asyncio.create_task(self._ask(self._under_way), name="batch")
        self._questions.add(question)
        answer = (await asyncio.shield(self._next)).get(question)
        if isinstance(answer, Failure):
            raise answer.error
        return answer

    async def _ask(
        self, before: "asyncio.Task[Mapping[Question, Answer | Failure]] | None"
    ) -> Mapping[Question, Answer | Failure]:
        if before is not None:
            await asyncio.wait([before])
        questions, self._questions = self._questions, set()
        self._under_way, self._next = self._next, None
        return await run_in_db_thread(self._answers, list(questions))

    def _answers(self, questions: Sequence[Question]) -> dict[Question, Answer | Failure]:
        try:
            return dict(self._work(questions))
        except (OperationalError, InterfaceError):
            raise
        except Exception as error:  # noqa: BLE001 -- raised for the one who asked
            if len(questions) == 1:
                return {questions[0]: Failure(error)}
        middle = len(questions) // 2
        return self._answers(questions[:middle]) | self._answers(questions[middle:])
