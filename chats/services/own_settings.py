"""What one person sets for themselves in a chat: to mute it, and to archive it. Nothing changes for the others."""

from collections.abc import Collection
from datetime import UTC, datetime
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from chats.models import ChatActor
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Invalid
from events.publish import publish_list_changed


@transaction.atomic
def mute_chat(actor: Actor, chat_id: UUID, *, until: datetime | None = None) -> None:
    """Mute a chat for the actor until a time, or for good. Its messages are not counted then. Mentions are still notified.

    The end of the time is no write: clients compare it with their clock. Raises `NotFound`, `Forbidden`, and `Invalid` for a time
    that has passed, or that is after the year 9999.
    """
    if until is not None and until <= now():
        raise Invalid("This time has passed.", hints=["Send a later `until`, or null to mute the chat for good."])
    try:
        # The last hours of 9999 may be in the year 10000 of UTC: PostgreSQL would store that, but nobody could read the row again.
        until = until and until.astimezone(UTC)
    except OverflowError as error:
        raise Invalid("This time is too far away.", hints=["Send null to mute the chat for good."]) from error
    _update(actor, chat_id, is_muted=True, muted_until=until)


@transaction.atomic
def unmute_chat(actor: Actor, chat_id: UUID) -> None:
    """End that a chat is muted for the actor. Raises `NotFound`, `Forbidden`."""
    _update(actor, chat_id, is_muted=False, muted_until=None)


@transaction.atomic
def archive_chat(actor: Actor, chat_id: UUID) -> None:
    """Move a chat to the actor's archive until they are mentioned in it (`restore_archived_chats`), are added again, or restore it.
    Raises `NotFound`, `Forbidden`."""
    _update(actor, chat_id, is_archived=True)


@transaction.atomic
def restore_chat(actor: Actor, chat_id: UUID) -> None:
    """Move a chat back from the actor's archive to their list. Raises `NotFound`, `Forbidden`."""
    _update(actor, chat_id, is_archived=False)


def restore_archived_chats(chat_id: UUID, people: Collection[UUID]) -> None:
    """Move a chat back to the lists of those of these people who have archived it, because they are mentioned in it."""
    archived = ChatActor.objects.filter(chat=chat_id, actor__in=people, ended_at=None, is_archived=True)
    if ids := list(archived.values_list("actor_id", flat=True)):
        archived.update(is_archived=False)
        publish_list_changed(ids, "chats")


def _update(actor: Actor, chat_id: UUID, **values: bool | datetime | None) -> None:
    # `SEE` would include editors who read a chat between agents and are not in it.
    chat = get_chat_for(actor, chat_id, ChatVerb.POST)
    ChatActor.objects.filter(chat=chat, actor=actor).update(**values)
    publish_list_changed([actor.id], "chats")
