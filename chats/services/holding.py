"""Holding chats: whoever changes something in a chat holds it first, before anything else is locked (architecture §4)."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from chats.models import Chat
from common.compiled import Compiled

_HELD: Compiled[Chat] = Compiled(lambda id: Chat.objects.select_for_update(no_key=True).filter(pk=id), UUID)


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
