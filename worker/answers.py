"""Store the answers of tasks together when several of one group (`TaskRun.get_group`) arrive at about the same time."""

import asyncio
import logging
from collections.abc import Hashable
from uuid import UUID

from django.db import Error

from common.db_executor import DatabaseExecutor
from runs.errors import LeaseLost, RunNotAllowed
from runs.kinds.task import TaskAnswer, TaskRun
from runs.runtime.steps import StepSaved

logger = logging.getLogger(__name__)

StoredAnswer = asyncio.Future[StepSaved | None]
AnswerKey = tuple[TaskRun, Hashable, UUID]
"""The kind of a run, its group, and its chat."""


class AnswerCollector:
    """Stores the answers of the runs of one kind and group in one chat. One transaction follows the other; answers that arrive
    during one are stored together by the next. They would otherwise wait for the lock of their chat, each in a thread and a
    transaction of its own."""

    def __init__(self, db: DatabaseExecutor) -> None:
        self._db = db
        self._waiting: dict[AnswerKey, list[tuple[TaskAnswer, StoredAnswer]]] = {}
        """The answers that the next transaction of each key stores. The key is in it as long as it has a task."""
        self._tasks: set[asyncio.Task[None]] = set()

    async def store(self, kind: TaskRun, answer: TaskAnswer) -> StepSaved | None:
        """Store an answer. Return null if it could not be stored with others; then it has to be stored by itself."""
        run = answer.claimed.row
        key = (kind, kind.get_group(run), run.get_chat_id())
        stored: StoredAnswer = asyncio.get_running_loop().create_future()
        has_task = key in self._waiting
        self._waiting.setdefault(key, []).append((answer, stored))
        if not has_task:
            task = asyncio.create_task(self._store_batches(key))
            self._tasks.add(task)  # asyncio has only a weak reference to it
            task.add_done_callback(self._tasks.discard)
        return await stored

    async def _store_batches(self, key: AnswerKey) -> None:
        while batch := self._waiting[key]:
            self._waiting[key] = []
            replies: list[StepSaved | None] = [None] * len(batch)
            try:
                replies = [*await self._db(key[0].record_answers, [answer for answer, _ in batch])]
            except (Error, LeaseLost, RunNotAllowed) as error:
                # The answer that cannot be stored raises its error again when it is stored by itself.
                logger.info("Answers of tasks are stored one by one: %s", error)
            except Exception:
                logger.exception("Answers of tasks could not be stored together.")
            for (_, stored), reply in zip(batch, replies, strict=True):
                if not stored.done():
                    stored.set_result(reply)
        del self._waiting[key]
