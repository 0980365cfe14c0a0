"""The socket's protocol: who comes in, what they may say, what they are answered. Everything else is the hub's."""

import asyncio
import logging
import time
from typing import Any

from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from pydantic import ValidationError

from actors.models import Actor
from actors.rates import demand, stranger_at
from chats.permissions import ChatVerb, get_chat_for
from common.errors import AppError, Code, Forbidden, Invalid, LimitReached, NotFound, TooLarge
from common.logs import OccasionalWarning
from common.token_bucket import TokenBucket
from events.frames import ErrorFrame, MarkRead, Subscribe, Typing, TypingIn, Unsubscribe, client_frame
from events.publish import publish_now
from realtime.db_executor import run_in_db_thread
from realtime.entry import knock
from realtime.hub import Hub, this_hub
from realtime.outbox import FrameWriter
from realtime.socket import SIGNED_OUT, TOO_LARGE, TOO_MUCH, TRY_LATER, Socket
from realtime.topics import Topic
from server import limits
from server.connections import abort

logger = logging.getLogger(__name__)
not_opened = OccasionalWarning(logger, "A socket could not be opened")


class SocketConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """One tab. It has no channel of its own in the layer: the hub hears for all."""

    channel_layer_alias = "none"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.socket: Socket | None = None
        self.allowance = TokenBucket(limits.PER_SECOND, limits.BURST)
        self.typed: dict[Topic, float] = {}
        self.writing: asyncio.Task[None] | None = None
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.leave()

    async def dispatch(self, message: dict[str, Any]) -> None:
        # Not channels' own: it would look for stale database connections, a thread hop, before each frame.
        if message["type"] == "websocket.connect":
            await self.connect()
        elif message["type"] == "websocket.receive":
            await self.hear(message.get("text"))
        elif message["type"] == "websocket.disconnect":
            self.leave()
            raise StopConsumer

    # --- coming and going ---------------------------------------------------------------------------------------

    async def connect(self) -> None:
        hub = this_hub()
        asked = knock(self.scope["headers"])
        if not asked.may_enter:
            await self.close()  # before it is accepted: the handshake is answered with 403
            return
        try:
            found = await hub.person(asked.session_key) if asked.session_key else None
        except Exception as error:  # noqa: BLE001 -- anybody can cause it: one line now and then
            not_opened.warn(repr(error))
            await self.turn_away(TRY_LATER)
            return
        if found is None:
            await self.turn_stranger_away()
        elif len(hub.sockets) >= limits.MAX_SOCKETS_HERE:
            await self.turn_away(TRY_LATER)
        elif len(hub.of_actor.get(found[0].id, ())) >= limits.MAX_SOCKETS:
            await self.turn_away(TOO_MUCH)
        else:
            await self.enter(hub, Socket(*found, self.send, self.end))

    async def turn_stranger_away(self) -> None:
        """Say that nobody is signed in. An address that asks too often gets a refused handshake, which costs less (FAIR7)."""
        host, *_ = self.scope.get("client") or ("",)
        try:
            demand(stranger_at(host), only_here=True)
        except LimitReached:
            await self.close()
        else:
            await self.turn_away(SIGNED_OUT)

    async def turn_away(self, code: int) -> None:
        # A code can only be given on an open socket; a page learns nothing from a refused handshake.
        await self.accept()
        await self.close(code)

    async def enter(self, hub: Hub, socket: Socket) -> None:
        self.socket, self.hub = socket, hub
        hub.add(socket)  # before anything is awaited: of many who knock at once, each counts
        await self.accept()
        if isinstance(connection := self.find_connection(), FrameWriter):
            socket.outbox.writer = connection
        self.writing = asyncio.create_task(self.write(socket), name="socket")
        await hub.wake()

    async def write(self, socket: Socket) -> None:
        try:
            await socket.outbox.run()
        except (OSError, RuntimeError) as error:
            # A line that broke concerns this socket alone.
            logger.info("A socket broke: %r", error)
        finally:
            self.leave()

    def end(self, code: int) -> None:
        """The hub or the outbox ends this socket."""
        self.leave()
        this_hub().spawn(self.close_in_time(code))

    async def close_in_time(self, code: int) -> None:
        try:
            async with asyncio.timeout(limits.CLOSING):
                await self.close(code)
        except (OSError, RuntimeError) as error:
            logger.info("A socket would not close, and is cut: %r", error)
            self.cut()

    def cut(self) -> None:
        """A reader who stalls does not take the closing frame either, and ASGI has no word for cutting a line: uvicorn's
        own transport is asked. Elsewhere the line ends when the peer does."""
        transport = getattr(self.find_connection(), "transport", None)
        if transport is not None:
            abort(transport)

    def find_connection(self) -> object:
        """Return the server's connection below ASGI: with uvicorn, whose `send` this is."""
        return getattr(self.base_send, "__self__", None)

    def leave(self) -> None:
        if self.socket is not None:
            self.socket.has_ended = True
            self.hub.part(self.socket)
        if self.writing is not None and self.writing is not asyncio.current_task():
            self.writing.cancel()

    # --- what a client says -------------------------------------------------------------------------------------

    async def hear(self, text: str | None) -> None:
        """One frame from the client. Whatever it is, the socket lives on, and says what was wrong."""
        socket, topic = self.socket, None
        if socket is None or socket.has_ended:
            return
        try:
            self.demand_measure(socket, text)
            frame = client_frame.validate_json(text or "")
            topic = frame.topic
            await self.obey(socket, frame)
        except ValidationError:
            refuse(socket, Invalid("This is not a frame that we know."), topic)
        except AppError as error:
            refuse(socket, error, topic)
        except Exception:
            logger.exception("A frame could not be obeyed")
            refuse(socket, AppError("Something went wrong here.", code=Code.INTERNAL), topic)

    def demand_measure(self, socket: Socket, text: str | None) -> None:
        if text is not None and len(text) > limits.MAX_FRAME:
            socket.end(TOO_LARGE)
            raise TooLarge("A message has at most 64 KiB.")
        if self.allowance.take() < 0:
            if self.allowance.left < -limits.MAX_REFUSED:
                socket.end(TOO_MUCH)
            raise LimitReached("Too many messages in a second.")
        if self.hub.allowance_of(socket.actor.id).take() < 0:
            raise LimitReached("Too many messages in a second, from all your windows.")

    async def obey(self, socket: Socket, frame: Subscribe | Unsubscribe | TypingIn | MarkRead) -> None:
        if isinstance(frame, Subscribe):
            await self.subscribe(socket, Topic.parse(frame.topic), frame.since)
        elif isinstance(frame, Unsubscribe):
            self.hub.unfollow(socket, Topic.parse(frame.topic))
        elif socket.ticket.is_read_only:
            raise Forbidden("This API token may only look.")
        elif isinstance(frame, MarkRead):
            self.mark_read(socket, Topic.parse(frame.topic), frame.seq)
        else:
            await self.say_typing(socket, Topic.parse(frame.topic))

    async def subscribe(self, socket: Socket, topic: Topic, since: int | None) -> None:
        """Hear first, read then: what comes in between is held, and follows the answer (MSG5)."""
        if topic not in socket.subscriptions and len(socket.subscriptions) >= limits.MAX_SUBSCRIPTIONS:
            raise LimitReached(f"A socket follows at most {limits.MAX_SUBSCRIPTIONS} topics.")
        subscription = await self.hub.follow(socket, topic)
        try:
            if not await self.hub.admit((socket.actor.id, topic)):
                raise NotFound("There is no such topic.")
            await self.hub.answer(socket, subscription, since)
        except BaseException:
            self.hub.unfollow(socket, topic)
            raise

    def mark_read(self, socket: Socket, topic: Topic, seq: int) -> None:
        if topic.kind == "chat" and topic in socket.subscriptions:
            self.hub.read_cursors.move(socket.actor.id, topic.id, seq)

    async def say_typing(self, socket: Socket, topic: Topic) -> None:
        now = time.monotonic()
        if topic not in socket.subscriptions or now - self.typed.get(topic, -limits.TYPING_EVERY) < limits.TYPING_EVERY:
            return
        self.typed[topic] = now
        await run_in_db_thread(say_typing, socket.actor, topic)


def refuse(socket: Socket, error: AppError, topic: str | None) -> None:
    """Say what was wrong with a frame."""
    socket.give(ErrorFrame(topic=topic, code=error.code, message=error.message).model_dump_json())


def say_typing(actor: Actor, topic: Topic) -> None:
    """Tell the others. Raises `NotFound`, `Forbidden`: it asks what posting asks (EDIT6)."""
    if topic.kind != "chat":
        raise Invalid("People write in chats only.")
    get_chat_for(actor, topic.id, ChatVerb.POST)
    publish_now(Typing(topic=str(topic), actor_id=actor.id))
