"""Who hears what a run says, while it says it: the chat it works in, or those who wait for a merge, or nobody."""

import asyncio
from typing import Protocol
from uuid import UUID

from agents.llm.exchange import Piece
from agents.models import Run
from agents.runtime.talk import call_id_of
from agents.services.jobs import Brief
from events.frames import Progress
from events.publish import publish_now
from events.stream import Stream, streams

EVERY = 0.25
"""Seconds between two frames about how far a merge has come."""


class Speech(Protocol):
    """What a run says, passed on in passing: nothing here is the truth, nothing raises, and no run waits for Redis."""

    def say(self, piece: Piece, message_id: UUID) -> None:
        """A piece of the message that is being made."""
        ...

    async def flush(self) -> None:
        """Pass on what waits, before the durable row goes out."""
        ...

    async def close(self) -> None:
        """The message is whole, or will never be."""
        ...


class InChat:
    """Everybody in the chat reads along."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._stream: Stream | None = None

    def say(self, piece: Piece, message_id: UUID) -> None:
        if self._stream is None:
            self._stream = streams.open(
                topic=f"chat:{self._run.chat_id}", run_id=self._run.id, agent_id=self._run.agent_id,
                message_id=message_id, attempt=self._run.attempt,
            )  # fmt: skip
        call_id = call_id_of(message_id, piece.index) if piece.part == "arguments" else None
        self._stream.say(piece.part, piece.text, index=piece.index, call_id=call_id, name=piece.name)

    async def flush(self) -> None:
        if self._stream is not None:
            await self._stream.flush()

    async def close(self) -> None:
        if self._stream is not None:
            await self._stream.close()
            self._stream = None


class OfMerge:
    """The merge's workspace hears how far it has come, a few times a second."""

    def __init__(self, run: Run) -> None:
        assert run.trigger_id is not None
        self._frame = Progress(
            topic=f"workspace:{run.workspace_id}", merge_id=run.trigger_id, done=0, expected=Brief.of(run).expected
        )  # fmt: skip
        self._done = 0
        self._due = 0.0
        self._sending: asyncio.Task[None] | None = None

    def say(self, piece: Piece, message_id: UUID) -> None:
        self._done += len(piece.text) if piece.part == "text" else 0
        time = asyncio.get_running_loop().time()
        if time >= self._due and (self._sending is None or self._sending.done()):
            self._due = time + EVERY
            frame = self._frame.model_copy(update={"done": self._done})
            self._sending = asyncio.create_task(asyncio.to_thread(publish_now, frame), name="progress")

    async def flush(self) -> None:
        """What comes next says more than how far it was."""

    async def close(self) -> None:
        if self._sending is not None:
            await asyncio.wait([self._sending])


class ToNobody:
    """A summary is read when it is there."""

    def say(self, piece: Piece, message_id: UUID) -> None:
        pass

    async def flush(self) -> None:
        pass

    async def close(self) -> None:
        pass


def speech_of(run: Run) -> Speech:
    """Who hears this run."""
    if run.chat_id is not None:
        return InChat(run)
    return OfMerge(run) if run.origin == "merge" else ToNobody()
