"""Holding chats: whoever changes something in a chat holds it first, before anything else is locked."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from chats.models import Chat
from common.prepared_query import PreparedQuery

_HELD: PreparedQuery[Chat] = PreparedQuery(lambda id: Chat.objects.select_for_update(no_key=True).filter(pk=id), UUID)


def hold_chat(id: UUID) -> Chat:
    """The chat as it is now, held until the transaction ends. No rights are asked: `get_chat_for` does. Raises
    `Chat.DoesNotExist`."""
    chat = _HELD.first(id)
    if chat is None:
        raise Chat.DoesNotExist
    return chat


def hold_chats(ids: Collection[UUID] | QuerySet[Any, UUID]) -> list[Chat]:
    """Several of them, in the order of ids, so that two who do this never deadlock. What is no more is left out."""
    return list(Chat.objects.filter(pk__in=ids).order_by("pk").select_for_update(no_key=True))


_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest(%s::text[]) AS name"
_LOCK_SHARED = "SELECT pg_advisory_xact_lock_shared(hashtextextended(name, 0)) FROM unnest(%s::text[]) AS name"


def lock_places(actor_ids: Iterable[UUID], *, shared: bool = False) -> None:
    """Lock in which chats these actors are, until the transaction ends. Call it before chats are locked.

    Adding somebody to a chat takes the lock `shared`, so that several people can do it at once; taking somebody out of all chats,
    or showing them anew there, takes it exclusively. Whoever adds somebody checks after this that they may be added: otherwise
    a person who is being removed could get a place meanwhile.
    """
    names = sorted(f"places:{actor_id}" for actor_id in set(actor_ids))
    with connection.cursor() as cursor:
        cursor.execute((_LOCK_SHARED if shared else _LOCK), [names])
