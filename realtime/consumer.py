"""The WebSocket consumer: it opens and closes a socket and handles the frames of the client. The hub sends all other frames."""

import asyncio
import logging
import time
from functools import partial
from typing import Any, assert_never, get_args

from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from pydantic import ValidationError

from actors.auth import build_viewing_error
from actors.models import Actor
from actors.rates import get_ip_address_bucket, throttle
from chats import services as chats
from chats.permissions import ChatVerb, get_chat_for
from common.errors import AppError, Code, Forbidden, Invalid, LimitReached, NotFound, TooLarge
from common.logs import ThrottledWarning
from common.request_types import describe_problem
from common.token_bucket import TokenBucket
from events.frames import ClientFrame, ErrorFrame, MarkRead, Subscribe, Typing, TypingIn, Unsubscribe, client_frame
from events.publish import publish_now
from realtime.db_executor import run_in_db_thread
from realtime.handshake import read_handshake
from realtime.hub import Hub, get_hub
from realtime.outbox import FrameWriter
from realtime.socket import SIGNED_OUT, TOO_LARGE, TOO_MUCH, TRY_LATER, Socket
from realtime.topics import Topic
from server import limits
from server.connections import abort

FRAME_TYPES = [get_args(frame.model_fields["type"].annotation)[0] for frame in get_args(get_args(ClientFrame)[0])]
"""The types of the frames that clients send."""

logger = logging.getLogger(__name__)
not_opened = ThrottledWarning(logger, "A socket could not be opened")


class SocketConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]  # channels has no types
    """A socket. It has no channel of its own in the channel layer, because the hub receives for all sockets."""

    channel_layer_alias = "none"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.socket: Socket | None = None
        self.allowance = TokenBucket(limits.SOCKET_FRAMES_PER_SECOND, limits.SOCKET_BURST_FRAMES)
        self.typing_published_at: dict[Topic, float] = {}
        self.write_task: asyncio.Task[None] | None = None
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.leave()

    async def dispatch(self, message: dict[str, Any]) -> None:
        # The base class would close old database connections in a thread before each frame.
        if message["type"] == "websocket.connect":
            await self.connect()
        elif message["type"] == "websocket.receive":
            await self.receive_frame(message.get("text"))
        elif message["type"] == "websocket.disconnect":
            self.leave()
            raise StopConsumer

    # --- opening and closing ---------------------------------------------------------------------------------------

    async def connect(self) -> None:
        hub = get_hub()
        handshake = read_handshake(self.scope["headers"])
        if not handshake.is_allowed:
            await self.close()  # not accepted yet: the handshake is answered with 403
            return
        try:
            found = await hub.find_sign_in(handshake.credential) if handshake.credential else None
        except Exception as error:  # noqa: BLE001 -- logged by `not_opened`, which limits the number of log lines
            not_opened.warn(repr(error))
            await self.close_with_code(TRY_LATER)
            return
        if found is None:
            await self.refuse_anonymous()
        elif len(hub.sockets) >= limits.MAX_SOCKETS_PER_PROCESS:
            await self.close_with_code(TRY_LATER)
        elif len(hub.sockets_by_owner.get(found[1].owner_id, ())) >= limits.MAX_SOCKETS_PER_PERSON:
            await self.close_with_code(TOO_MUCH)
        else:
            await self.open_socket(hub, Socket(*found, self.send, self.end))

    async def refuse_anonymous(self) -> None:
        """Close the socket of an anonymous client. With too many sockets from one IP address, the handshake is refused (FAIR7)."""
        host, *_ = self.scope.get("client") or ("",)
        try:
            throttle(get_ip_address_bucket(host), local_only=True)
        except LimitReached:
            await self.close()
        else:
            await self.close_with_code(SIGNED_OUT)

    async def close_with_code(self, code: int) -> None:
        # Only an open socket has a close code; a page cannot read why a handshake was refused.
        await self.accept()
        await self.close(code)

    async def open_socket(self, hub: Hub, socket: Socket) -> None:
        self.socket, self.hub = socket, hub
        hub.add(socket)  # before the first await, so that concurrent connections are counted
        await self.accept()
        if isinstance(connection := self.find_connection(), FrameWriter):
            socket.outbox.writer = connection
        self.write_task = asyncio.create_task(self.write(socket), name="socket")
        await hub.start()

    async def write(self, socket: Socket) -> None:
        try:
            await socket.outbox.run()
        except (OSError, RuntimeError) as error:
            logger.info("A socket broke: %r", error)
        finally:
            self.leave()

    def end(self, code: int) -> None:
        """Close the socket. The hub calls this."""
        self.leave()
        get_hub().spawn(self.close_in_time(code))

    async def close_in_time(self, code: int) -> None:
        try:
            async with asyncio.timeout(limits.CLOSE_TIMEOUT_SECONDS):
                await self.close(code)
        except (OSError, RuntimeError) as error:
            logger.info("A socket did not close in time and is aborted: %r", error)
            self.abort_connection()

    def abort_connection(self) -> None:
        """Abort the connection of a client that does not read, and so does not receive a close frame.

        ASGI cannot abort a connection, so this uses uvicorn's transport.
        """
        transport = getattr(self.find_connection(), "transport", None)
        if transport is not None:
            abort(transport)

    def find_connection(self) -> object:
        """Return uvicorn's connection object, of which ASGI's `send` is a method."""
        return getattr(self.base_send, "__self__", None)

    def leave(self) -> None:
        """Remove the socket from the hub, and stop sending. Calling it again has no effect."""
        if self.socket is not None:
            self.socket.has_ended = True
            self.hub.remove(self.socket)
        if self.write_task is not None and self.write_task is not asyncio.current_task():
            self.write_task.cancel()

    # --- frames of the client -------------------------------------------------------------------------------------

    async def receive_frame(self, text: str | None) -> None:
        """Handle a frame of the client. An invalid one is answered with an error frame, and the socket stays open."""
        socket, topic = self.socket, None
        if socket is None or socket.has_ended:
            return
        try:
            self.require_within_limits(socket, text)
            frame = client_frame.validate_json(text or "")
            topic = frame.topic
            await self.handle_command(socket, frame)
        except ValidationError as error:
            send_error(socket, build_frame_error(error), topic)
        except AppError as error:
            send_error(socket, error, topic)
        except Exception:
            logger.exception("A frame of a client could not be handled")
            send_error(socket, AppError("Something went wrong here.", code=Code.INTERNAL), topic)

    def require_within_limits(self, socket: Socket, text: str | None) -> None:
        """Count a frame of the client. Raises `TooLarge` for one of more than `MAX_FRAME_BYTES`, and `LimitReached` if this socket,
        or all sockets of its person, send too many.

        A frame that is too large closes the socket. So does a frame that overdraws the token bucket of this socket by more
        than `MAX_REFUSED` frames: refused frames are taken from it, too.
        """
        if text is not None and len(text.encode()) > limits.MAX_FRAME_BYTES:
            socket.end(TOO_LARGE)
            raise TooLarge("A frame has at most 64 KiB.")
        if self.allowance.consume() < 0:
            if self.allowance.left < -limits.MAX_REFUSED:
                socket.end(TOO_MUCH)
            raise LimitReached("Too many frames in a second.")
        if self.hub.get_allowance(socket.sign_in.owner_id).consume() < 0:
            raise LimitReached("Too many frames in a second, from all your windows.")

    async def handle_command(self, socket: Socket, frame: Subscribe | Unsubscribe | TypingIn | MarkRead) -> None:
        if isinstance(frame, Subscribe):
            await self.subscribe(socket, Topic.parse(frame.topic), frame.since)
        elif isinstance(frame, Unsubscribe):
            self.hub.unsubscribe(socket, Topic.parse(frame.topic))
        elif socket.sign_in.viewing_id:
            raise build_viewing_error()
        elif socket.sign_in.is_read_only:
            raise Forbidden("This API token may only look.")
        elif isinstance(frame, MarkRead):
            await self.mark_read(socket, Topic.parse(frame.topic), frame.seq)
        elif isinstance(frame, TypingIn):
            await self.publish_typing(socket, Topic.parse(frame.topic))
        else:
            assert_never(frame)

    async def subscribe(self, socket: Socket, topic: Topic, since: int | None) -> None:
        """Subscribe to a topic, and send its state. Frames that arrive during the read are sent after that (MSG5)."""
        if topic not in socket.subscriptions and len(socket.subscriptions) >= limits.MAX_SUBSCRIPTIONS:
            raise LimitReached(f"A socket subscribes to at most {limits.MAX_SUBSCRIPTIONS} topics.")
        subscription = await self.hub.subscribe(socket, topic)
        try:
            check_right = self.hub.check_viewer if socket.sign_in.viewing_id else self.hub.add_subscriber
            if not await check_right((socket.actor.id, topic)):
                raise NotFound("There is no such topic.")
            await self.hub.send_reply(socket, subscription, since)
        except BaseException:
            self.hub.unsubscribe(socket, topic)
            raise

    async def mark_read(self, socket: Socket, topic: Topic, seq: int) -> None:
        """Move the read cursor of the socket's actor: that of a person later, together with others, and that of an agent now."""
        if topic.kind != "chat" or topic not in socket.subscriptions:
            return
        if socket.actor.is_agent:
            await run_in_db_thread(partial(chats.mark_read, socket.actor, topic.id, seq=seq))
        else:
            self.hub.read_cursors.move(socket.actor.id, topic.id, seq)

    async def publish_typing(self, socket: Socket, topic: Topic) -> None:
        """Publish that the person is typing, at most once in `TYPING_INTERVAL_SECONDS`."""
        if topic not in socket.subscriptions:
            return
        now, last = time.monotonic(), self.typing_published_at.get(topic)
        if last is not None and now - last < limits.TYPING_INTERVAL_SECONDS:
            return
        self.typing_published_at[topic] = now
        await run_in_db_thread(publish_typing, socket.actor, topic)


def build_frame_error(error: ValidationError) -> Invalid:
    """Return the error for a frame of a client that is not JSON, of an unknown type, or wrong in a field."""
    problem = error.errors(include_url=False, include_input=False)[0]
    match problem["type"]:
        case "json_invalid":
            return Invalid("The frame is not JSON.")
        case "union_tag_invalid" | "union_tag_not_found":
            return Invalid(f"The frame has no known `type`. There are: {', '.join(FRAME_TYPES)}.")
    return Invalid(f"The frame does not match the schema: {describe_problem(problem, 'frame')}"[:300])


def send_error(socket: Socket, error: AppError, topic: str | None) -> None:
    """Send an error frame."""
    socket.send(ErrorFrame(topic=topic, code=error.code, message=error.message).model_dump_json())


def publish_typing(actor: Actor, topic: Topic) -> None:
    """Publish that a person is typing in a chat. Raises `NotFound`, `Forbidden` and `Invalid`, as posting does (EDIT6)."""
    if topic.kind != "chat":
        raise Invalid("People write in chats only.")
    get_chat_for(actor, topic.id, ChatVerb.POST)
    publish_now(Typing(topic=str(topic), actor_id=actor.id))
