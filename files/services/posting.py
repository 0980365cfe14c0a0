"""Showing files in chats: the message of a file, and files that agents write."""

from io import BytesIO
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from actors.models import Actor
from chats.hooks import message_posted
from chats.models import Chat, Message, VersionedRow
from chats.permissions import ChatVerb, get_chat_for
from chats.services.changes import save_changes
from chats.services.messages import get_replied_message
from common.clock import now
from common.errors import Conflict, Forbidden, build_duplicate_id_error
from events.payloads import MessageWake, dump_payload
from events.publish import publish_workspace_list_changed
from files.models import File
from files.permissions import FileVerb, get_file_for
from files.services.uploads import upload_file


@transaction.atomic
def post_file(
    actor: Actor,
    file_id: UUID,
    *,
    reply_to: UUID | None = None,
    wake: MessageWake = "auto",
    on_behalf_of: Actor | None = None,
    run_id: UUID | None = None,
) -> tuple[Message, bool]:
    """Show an uploaded file in its chat, by a message with the id of the file, and wake the agents that it addresses.

    Return the message, and whether it was created. Raises `NotFound`, `Forbidden`, and `Conflict` for a file of the workspace or if
    another message has its id (`id_taken`).
    """
    file = get_file_for(actor, file_id, FileVerb.SEE, on_behalf_of=on_behalf_of)
    if file.chat_id is None:
        raise Conflict("This file belongs to the workspace and not to a chat.")
    chat = get_chat_for(actor, file.chat_id, ChatVerb.POST, on_behalf_of=on_behalf_of, lock=True)
    file = File.objects.select_for_update(no_key=True).get(pk=file.pk)
    if file.posted_at is not None:
        return Message.objects.get(pk=file.pk), False
    message = _build_message(file, chat, actor, run_id=run_id, wake=wake)
    message.reply_to = get_replied_message(chat, reply_to)
    _mark_posted(file, message)
    _show_file(chat, message, *message_posted.call(chat, message))
    return message, True


def _show_file(chat: Chat, message: Message, *rows: VersionedRow) -> None:
    """Store the message that shows a file, and the rows that follow from it. Raises `Conflict` if another message has its id."""
    try:
        with transaction.atomic():
            save_changes(chat.id, [message, *rows])
    except IntegrityError:
        raise build_duplicate_id_error("message") from None
    publish_workspace_list_changed(chat.workspace_id, "files")


def _build_message(
    file: File,
    chat: Chat,
    actor: Actor,
    *,
    run_id: UUID | None,
    wake: MessageWake,
    metadata: dict[str, Any] | None = None,
) -> Message:
    """Return the message that shows a file."""
    return Message(
        id=file.id,
        chat=chat,
        author=actor,
        type="FILE_MESSAGE",
        run_id=run_id,
        metadata=metadata,
        payload=dump_payload("FILE_MESSAGE", file.build_payload(wake=wake)),
        created_at=now(),
    )


def _mark_posted(file: File, message: Message) -> None:
    file.posted_at = message.created_at
    file.save(update_fields=["posted_at"])


@transaction.atomic
def write_file(
    actor: Actor,
    chat_id: UUID,
    *,
    name: str,
    text: str,
    on_behalf_of: Actor | None,
    run_id: UUID | None,
    task_metadata: dict[str, Any] | None = None,
) -> File:
    """Write a text file in the name of an agent and show it in the chat. It wakes no agent. `task_metadata`: the metadata of the
    messages of a run that does a task, whose agent need not be in the chat: then its person must be allowed to post there.

    Raises `NotFound`, `Forbidden`, `Invalid`, `TooLarge`, `QuotaReached`.
    """
    content = BytesIO(text.encode())
    if task_metadata is not None:
        if on_behalf_of is None:
            raise Forbidden("The person for whom the task is done is gone.")
        file, _ = upload_file(actor, content=content, name=name, chat_id=chat_id, rights_of=on_behalf_of)
        chat = get_chat_for(on_behalf_of, chat_id, ChatVerb.POST, lock=True)
        message = _build_message(file, chat, actor, run_id=run_id, wake="nobody", metadata=task_metadata)
        _mark_posted(file, message)
        _show_file(chat, message)
        return file
    file, _ = upload_file(actor, content=content, name=name, chat_id=chat_id, on_behalf_of=on_behalf_of)
    post_file(actor, file.id, wake="nobody", on_behalf_of=on_behalf_of, run_id=run_id)
    return file
