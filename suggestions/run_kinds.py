"""The kinds of jobs that write summaries of suggestions and merges."""

import asyncio
from functools import partial
from uuid import UUID

from django.utils.translation import gettext_lazy as _

from events.frames import Progress
from events.publish import publish_now
from llm.endpoints import get_merge_service
from llm.messages import Chunk
from llm.protocol import Endpoint
from llm.structured import AnswerForm
from runs.kinds.job import Job, JobInput
from runs.models import Run
from runs.runtime.streaming import StreamSink
from suggestions.job_inputs import parse_merge_input
from suggestions.merge_answer import MergeAnswer, check_merge_answer

PROGRESS_INTERVAL_SECONDS = 0.25
"""Seconds between two frames about the progress of a merge."""


class SummaryJob(Job):
    """The summary of a suggestion, which `trigger_id` names."""

    name = "summary"
    label = _("summary")
    agent_handle = "summarizer"


class MergeJob(Job):
    """A merge of suggestions, which `trigger_id` names."""

    name = "merge"
    label = _("merge")
    agent_handle = "merger"

    def build_form(self, job_input: JobInput) -> AnswerForm:
        check = partial(check_merge_answer, *parse_merge_input(job_input.input))
        return AnswerForm("submit_merge", "Hand in the merged prompt and its conflicts.", MergeAnswer, check)

    def find_service(self) -> Endpoint | None:
        return get_merge_service()

    def open_stream(self, run: Run) -> StreamSink:
        if run.trigger_id is None:
            raise TypeError(f"Run {run.pk} is of no merge.")
        return ProgressSink(run.workspace_id, merge_id=run.trigger_id, expected=JobInput.from_run(run).expected)


class ProgressSink(StreamSink):
    """Reports the number of characters of a merge to its workspace, a few times a second."""

    def __init__(self, workspace_id: UUID, *, merge_id: UUID, expected: int) -> None:
        self._frame = Progress(topic=f"workspace:{workspace_id}", merge_id=merge_id, done=0, expected=expected)
        self._done = 0
        self._next_at = 0.0
        self._sending: asyncio.Task[None] | None = None

    def add(self, chunk: Chunk, message_id: UUID) -> None:
        self._done += len(chunk.text) if chunk.part == "text" else 0
        time = asyncio.get_running_loop().time()
        if time >= self._next_at and (self._sending is None or self._sending.done()):
            self._next_at = time + PROGRESS_INTERVAL_SECONDS
            frame = self._frame.model_copy(update={"done": self._done})
            self._sending = asyncio.create_task(asyncio.to_thread(publish_now, frame), name="progress")

    async def close(self) -> None:
        if self._sending is not None:
            await asyncio.wait([self._sending])
        self._done = 0  # an answer that is requested again begins anew


SUMMARY = SummaryJob()
MERGE = MergeJob()
