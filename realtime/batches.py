"""Questions of many sockets, asked as one."""

import asyncio
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Generic, TypeVar

from realtime.sections import section

Question = TypeVar("Question", bound=Hashable)
Answer = TypeVar("Answer")


class Batched(Generic[Question, Answer]):
    """Asks `work` for many at once: what comes while it is under way waits, and goes together. So a thousand who come
    back at the same moment cost a few reads instead of a thousand (A6), and nobody gets an answer that was read before
    they asked (A5, D5).
    """

    def __init__(self, work: Callable[[Collection[Question]], Mapping[Question, Answer]]) -> None:
        self._work = work
        self._questions: set[Question] = set()
        self._next: asyncio.Task[Mapping[Question, Answer]] | None = None
        self._under_way: asyncio.Task[Mapping[Question, Answer]] | None = None

    async def __call__(self, question: Question) -> Answer | None:
        """The answer; null when there is none. Raises what `work` raised."""
        if self._next is None:
            self._next = asyncio.create_task(self._ask(self._under_way), name="batch")
        self._questions.add(question)
        return (await asyncio.shield(self._next)).get(question)

    async def _ask(self, before: "asyncio.Task[Mapping[Question, Answer]] | None") -> Mapping[Question, Answer]:
        if before is not None:
            await asyncio.wait([before])
        questions, self._questions = self._questions, set()
        self._under_way, self._next = self._next, None
        return await section(self._work, questions)
