"""Reading the content of a file: its text, a thumbnail, its size in pixels and its number of pages."""

import logging
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core.files.base import ContentFile
from django.db import transaction

from actors.models import Actor
from chats.hooks import MessageChange, message_changed
from chats.models import Message
from chats.services.changes import save_changes
from chats.services.locking import lock_chat
from chats.services.pins import add_unpinning
from common.clock import now
from common.redis_client import redis_client
from common.tasks import send_task_now
from common.text import to_storable
from common.writing import RowUpdate
from events.payloads import FileState, NoTextReason, dump_payload
from events.publish import publish_list_changed, publish_workspace_list_changed
from files.models import File
from files.reading.process import UnreadableFile, read_in_process

logger = logging.getLogger(__name__)

RETRY_AFTER = timedelta(minutes=2)
GIVE_UP_AFTER = timedelta(hours=1)
"""How long after the first attempt a file is still tried again. Waiting in the queue before the first attempt does not count."""
BATCH_SIZE = 20
DAY = 24 * 3600


def read_contents(file_id: UUID) -> None:
    """Read a file in a process of its own, and store what was read. A file that cannot be read gets the state `failed`, and so does
    one that is still unread `GIVE_UP_AFTER` after the first attempt, whatever the reason."""
    file = File.objects.filter(pk=file_id, deleted_at=None, state=FileState.WAITING).first()
    if file is None:
        return
    if now().timestamp() - _record_attempt(file_id) > GIVE_UP_AFTER.total_seconds():
        _store(file, {"no_text_reason": NoTextReason.UNAVAILABLE}, state=FileState.FAILED)
        return
    try:
        with file.content.open("rb") as content:
            found = read_in_process(file.kind, content.read())
    except UnreadableFile as error:
        logger.info("File %s cannot be read: %s", file_id, error)
        _store(file, {"no_text_reason": error.reason}, state=FileState.FAILED)
        return
    _store(file, found, state=FileState.READY)


def _record_attempt(file_id: UUID) -> float:
    """Record this attempt to read the file if it is the first one of a day, and return when the first one was, in seconds since
    1970. If Redis does not answer: now."""
    time = now().timestamp()
    first = redis_client.call(lambda client: client.set(f"file-read:{file_id}", time, nx=True, get=True, ex=DAY), None)
    return float(first) if first else time


def enqueue_waiting_files() -> int:
    """Send the tasks again of files that have waited to be read for `RETRY_AFTER`: a task is lost with Redis or with its worker.
    Return how many tasks were sent. Raises `Unavailable`."""
    waiting = File.objects.filter(state=FileState.WAITING, deleted_at=None)
    late = waiting.filter(created_at__lt=now() - RETRY_AFTER).order_by("created_at").values_list("pk", flat=True)
    ids = list(late[:BATCH_SIZE])
    for file_id in ids:
        send_task_now("worker.tasks.read_file_contents", [str(file_id)])
    return len(ids)


def _store(file: File, found: dict[str, Any], *, state: FileState) -> None:
    thumbnail: bytes | None = found.pop("thumbnail", None)
    if thumbnail is not None:
        file.thumbnail.save("thumbnail", ContentFile(thumbnail), save=False)
    with transaction.atomic():
        # The chat is locked first, as in all services.
        chat = lock_chat(file.chat_id) if file.chat_id else None
        # Another task may have read the file meanwhile.
        waiting = File.objects.filter(pk=file.pk, deleted_at=None, state=FileState.WAITING)
        stored = waiting.select_for_update(no_key=True).first()
        if stored is None:
            if file.thumbnail:
                file.thumbnail.storage.delete(str(file.thumbnail.name))
            return
        stored.state = state
        stored.thumbnail = file.thumbnail
        stored.text = to_storable(found.get("text", ""))
        stored.text_is_cut = found.get("is_cut", False)
        stored.width, stored.height, stored.pages = found.get("width"), found.get("height"), found.get("pages")
        stored.encoding, stored.no_text_reason = found.get("encoding", ""), found.get("no_text_reason", "")
        stored.save()
        if chat is None or stored.posted_at is not None:
            publish_workspace_list_changed(stored.workspace_id, "files")
        if stored.posted_at is not None:
            update_message(stored)
        elif chat is not None and stored.uploaded_by_id is not None:
            publish_list_changed([stored.uploaded_by_id], "files")


def update_message(file: File, *, deleted_by: Actor | None = None) -> None:
    """Show the present facts of a posted file in its message. The caller has locked the chat. `deleted_by`: who has just deleted
    the file, and thereby the message: it is unpinned, and loses its reactions."""
    message = Message.objects.select_related("chat").filter(pk=file.pk).first()
    if message is None or file.chat_id is None:
        return
    payload = file.build_payload(wake=message.payload.get("wake", "auto"), answers=message.payload.get("answers"))
    if deleted_by is None:
        save_changes(file.chat_id, [RowUpdate(message).set(payload=dump_payload("FILE_MESSAGE", payload))])
        return
    payload = payload.model_copy(update={"deleted_by": deleted_by.pk})
    update = RowUpdate(message).set(
        payload=dump_payload("FILE_MESSAGE", payload), deleted_at=file.deleted_at, reactions=None
    )
    change = MessageChange(message.chat, message, deleted_by, is_deleted=True)
    save_changes(file.chat_id, [*add_unpinning(update), *message_changed.call(change)], changes_activity=True)
