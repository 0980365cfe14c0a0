"""One topic in this process: brings its frames in order and hands them to the sockets that follow it; what is missing
is read once for all of them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID

from events.frames import Changes, Presence, Subscribed
from realtime.topics import Topic

logger = logging.getLogger(__name__)

GRACE = 0.05
"""Seconds that a frame which came too early waits for the one before it: two commits may publish in the other order."""

SHARED = 1.0
"""Seconds that an answer may serve others who come, as after a restart, all at once (P8)."""

PRESENCE = 1.0
"""Seconds between two tellings of who is there: when a team comes back at once, its members are not told of each other
one by one."""

CROWD = 25
"""Followers in this process, from which on deltas of an agent are gathered for `GATHERED` seconds."""

GATHERED = 0.25
"""Seconds between two writes of gathered deltas: each write is one system call for each socket, however many deltas it has."""

MAX_HELD = 512
"""Frames kept back for somebody who is still reading the snapshot."""

Frame = dict[str, Any]
CatchUp = Callable[[Topic, int | None], Awaitable[Subscribed]]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a subscription is answered with, encoded; `is_shared`: it may answer others who come now as well."""

    text: str
    version: int
    is_shared: bool


class Reader(Protocol):
    """Whoever follows: the hub's view of a socket."""

    def give(self, text: str, *, passing: bool) -> None:
        """Send this. Never raises: a socket that cannot take it ends by itself, and hurts nobody else."""
        ...

    def give_passing(self, texts: tuple[str, ...]) -> None:
        """Send these, which may be lost. Never raises."""
        ...


class Subscription:
    """One socket on one topic. Until its snapshot has been read, frames are held; then they follow it, in order.

    `version` is what the socket knows; before that, where the feed was when it began to hear.
    """

    __slots__ = ("_held", "reader", "topic", "version")

    def __init__(self, reader: Reader, topic: Topic, version: int) -> None:
        self.reader = reader
        self.topic = topic
        self.version = version
        self._held: list[tuple[str, int | None]] | None = []

    def take(self, text: str, version: int | None) -> None:
        """A frame of the topic; `version` is null for passing ones."""
        if self._held is not None:
            if version is not None or len(self._held) < MAX_HELD:
                self._held.append((text, version))
        elif version is None:
            self.reader.give(text, passing=True)
        elif version > self.version:
            self.version = version
            self.reader.give(text, passing=False)

    def take_passing(self, texts: tuple[str, ...]) -> None:
        """Passing frames of the topic that came one after the other."""
        if self._held is None:
            self.reader.give_passing(texts)
        else:
            for text in texts:
                self.take(text, None)

    def release(self, answer: Answer) -> None:
        """The answer to the subscription has been read: it goes first, then what came meanwhile."""
        held, self._held = self._held or [], None
        self.version = answer.version
        self.reader.give(answer.text, passing=False)
        for frame in held:
            self.take(*frame)


class ChatRead:
    """One read of the chat for all who wait for it. It begins when the one before it has ended."""

    __slots__ = ("_before", "_work", "has_begun", "is_stale", "since", "task")

    def __init__(
        self, work: Callable[["ChatRead"], Awaitable[Answer]], since: int | None, before: "ChatRead | None"
    ) -> None:
        self.since = since
        self.has_begun = False
        self.is_stale = False
        self._work = work
        self._before = before
        self.task = asyncio.create_task(self._run(), name="read")

    def serves(self, since: int | None) -> bool:
        """Return whether somebody who comes now may share the answer."""
        begins_early = self.since is None or (since is not None and self.since <= since)
        return self.has_begun and not self.is_stale and begins_early

    async def _run(self) -> Answer:
        before, self._before = self._before, None
        if before is not None:
            await asyncio.wait([before.task])
        self.has_begun = True
        return await self._work(self)


class Feed:
    """The frames of one topic, in order.

    `version` is what the sockets here have been told of; null until somebody has read the chat. `is_heard`: the layer
    brings the topic's frames. `repair`: the read of what is missing, when one is under way.
    """

    def __init__(self, topic: Topic, catch_up: CatchUp) -> None:
        self.topic = topic
        self.version: int | None = None
        self.is_heard = False
        self.repair: asyncio.Task[None] | None = None
        self._catch_up = catch_up
        self._followers: dict[Reader, Subscription] = {}
        self._early: list[Frame] = []
        self._reads: dict[bool, ChatRead] = {}  # of the whole chat (true), and of what changed since some version
        self._present: list[UUID] | None = None
        self._presence: str | None = None
        self._told_presence: str | None = None
        self._quiet: asyncio.TimerHandle | None = None
        self._gathered: list[str] = []
        self._gathering: asyncio.TimerHandle | None = None

    @property
    def is_empty(self) -> bool:
        return not self._followers

    def follow(self, reader: Reader) -> Subscription:
        """Hold frames for `reader` from now on; `release` of the subscription lets them go."""
        subscription = Subscription(reader, self.topic, self.version or 0)
        self._followers[reader] = subscription
        return subscription

    def leave(self, reader: Reader) -> None:
        """Nothing more for `reader`."""
        self._followers.pop(reader, None)
        if not self._followers:
            # Nobody here knows anything now: the next one who comes begins with a read of its own.
            self.version = None
            self._early.clear()
            self._gathered.clear()
            for read in self._reads.values():
                read.is_stale = True

    async def answer(self, subscription: Subscription, since: int | None) -> Answer:
        """What a new follower is told first.

        Those who come within a second share one read: it must not be older than the first frame that they heard (MSG5), and
        nothing may be streaming, which they would hear with a hole. Others wait together for the next read. There is one at
        a time, whatever `since` they say: it begins at the lowest.
        """
        last = self._reads.get(since is None)
        if last is not None and last.serves(since):
            answer = await asyncio.shield(last.task)
            if answer.is_shared and answer.version >= subscription.version:
                if self._told_presence is not None:
                    subscription.take(self._told_presence, None)  # who came since is not in the answer
                return answer
            last = self._reads.get(since is None)
        if last is None or last.has_begun:
            last = self._reads[since is None] = ChatRead(self._read, since, last)
        elif since is not None and last.since is not None:
            last.since = min(last.since, since)
        answer = await asyncio.shield(last.task)
        if since is not None and since > answer.version:
            return await self.answer(subscription, None)  # the chat never was at that version
        return answer

    async def _read(self, read: ChatRead) -> Answer:
        try:
            found = await self._catch_up(self.topic, read.since)
        except Exception:
            self._forget(read)  # whoever comes next asks anew
            raise
        asyncio.get_running_loop().call_later(SHARED, self._forget, read)
        streams = any(row.kind == "run" and row.state == "running" for row in found.rows)
        return Answer(found.model_dump_json(), found.version, is_shared=not streams)

    def _forget(self, read: ChatRead) -> None:
        if self._reads.get(read.since is None) is read:
            del self._reads[read.since is None]

    def settle(self, version: int) -> None:
        """Somebody has read the chat at `version`: from there the frames are in order."""
        if self.version is None:
            self.version = version
            self._catch_on()

    def take(self, frame: Frame) -> None:
        """A frame from the channel layer, encoded; no database, no waiting."""
        if self.is_empty:
            return
        if frame["kind"] != "changes":
            self._pass_on(frame)
        elif self._is_next(frame):
            self._advance(frame)
            if self._early:
                self._catch_on()
        elif self.version is None or frame["version"] > self.version:
            self._early = [*self._early[-MAX_HELD:], frame]
            self._catch_on()

    def behind(self, head: int) -> None:
        """The chat is at `head`: if the frames that lead there do not come, read."""
        if self.version is not None and head > self.version and not self.is_empty:
            self._start_repair(head)

    def tell_presence(self, people: list[UUID]) -> None:
        """Who has the chat open, as counted now; told only when it is news here."""
        if people != self._present:
            self._present = people
            self._pass_on_presence(Presence(topic=str(self.topic), present=people).model_dump_json())

    def _pass_on(self, frame: Frame) -> None:
        if frame["kind"] == "presence":
            self._present = None
            self._pass_on_presence(frame["text"])
        elif frame["text"] is None:
            return
        elif frame["kind"] == "delta" and len(self._followers) >= CROWD:
            self._gather(frame["text"])
        else:
            self._hand_out(frame["text"], None)

    def _gather(self, text: str) -> None:
        """Send the first delta at once, and those that follow within `GATHERED` seconds together."""
        if self._gathering is None:
            self._hand_out(text, None)
            self._gathering = asyncio.get_running_loop().call_later(GATHERED, self._end_gathering)
        elif len(self._gathered) < MAX_HELD:
            self._gathered.append(text)

    def _end_gathering(self) -> None:
        self._gathering = None
        if self._gathered:
            self._gathering = asyncio.get_running_loop().call_later(GATHERED, self._end_gathering)
            self._hand_out_gathered()

    def _hand_out_gathered(self) -> None:
        gathered, self._gathered = tuple(self._gathered), []
        for subscription in list(self._followers.values()):
            subscription.take_passing(gathered)

    def _pass_on_presence(self, text: str | None) -> None:
        """The first at once; what follows within a second, as its last state."""
        self._presence = text
        if self._quiet is None:
            self._tell_last_presence()

    def _tell_last_presence(self) -> None:
        self._quiet = None
        if self._presence is not None:
            self._hand_out(self._presence, None)
            self._told_presence, self._presence = self._presence, None
            self._quiet = asyncio.get_running_loop().call_later(PRESENCE, self._tell_last_presence)

    def _is_next(self, frame: Frame) -> bool:
        known = self.version
        return known is not None and frame["text"] is not None and frame["after"] <= known < frame["version"]

    def _advance(self, frame: Frame) -> None:
        self.version = frame["version"]
        self._hand_out(frame["text"], frame["version"])

    def _hand_out(self, text: str, version: int | None) -> None:
        if self._gathered:
            self._hand_out_gathered()  # nothing overtakes what was said before it
        for subscription in list(self._followers.values()):
            subscription.take(text, version)

    def _catch_on(self) -> None:
        """Let those early frames go whose turn has come; if others remain, something is missing."""
        if self.version is None:
            return
        for frame in sorted(self._early, key=lambda early: early["version"]):
            if self._is_next(frame):
                self._advance(frame)
        known = self.version
        self._early = [frame for frame in self._early if frame["version"] > known]
        if self._early:
            self._start_repair(max(frame["version"] for frame in self._early))

    def _start_repair(self, head: int) -> None:
        if self.repair is None or self.repair.done():
            self.repair = asyncio.create_task(self._repair_up_to(head), name=f"repair {self.topic}")

    async def _repair_up_to(self, head: int) -> None:
        await asyncio.sleep(GRACE)
        since = self.version
        if since is not None and since < head:
            try:
                found = await self._catch_up(self.topic, since)
            except Exception:
                # Left to the next frame or heartbeat, which tries again.
                logger.exception("What was missed of %s could not be read", self.topic)
                return
            self._tell(found, since)
        self.repair = None
        self._catch_on()

    def _tell(self, found: Subscribed, since: int) -> None:
        """What was missed, to all who follow: as a frame, or as a snapshot when it was too much."""
        if self.version is None or found.version <= self.version:
            return
        self.version = found.version
        told: Changes | Subscribed = found
        if not found.snapshot:
            told = Changes(topic=found.topic, after=since, version=found.version, rows=found.rows)
        self._hand_out(told.model_dump_json(), found.version)
