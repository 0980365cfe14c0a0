"""Locks of chats.

All services take locks in this order:

1. the workspace;
2. the set of chats of an actor (`lock_chat_sets`, an advisory lock);
3. chats, by id;
4. a merge and its suggestions;
5. the person who claims a draft (`check_holds_no_other_lock`, an advisory lock), and the draft;
6. the agent;
7. boards, by id, and then their tasks;
8. runs. Jobs are runs without a chat, and are also locked last.

A service locks the chat before it reads the rows that it changes.
"""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from actors.models import Actor
from chats.models import Chat, ChatActor
from chats.prepared_queries import LOCKED_CHAT


def lock_chat(id: UUID) -> Chat:
    """Lock the row of a chat until the transaction ends, and return it. Raises `Chat.DoesNotExist`.

    This function checks no rights; `get_chat_for(…, lock=True)` does.
    """
    chat = LOCKED_CHAT.first(id)
    if chat is None:
        raise Chat.DoesNotExist
    return chat


def lock_chats(ids: Collection[UUID] | QuerySet[Any, UUID]) -> list[Chat]:
    """Lock several chats in the order of their ids, so that two transactions cannot deadlock. Missing ids are left out."""
    return list(Chat.objects.filter(pk__in=ids).order_by("pk").select_for_update(no_key=True))


_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(name, 0)) FROM unnest(%s::text[]) AS name"
_LOCK_SHARED = "SELECT pg_advisory_xact_lock_shared(hashtextextended(name, 0)) FROM unnest(%s::text[]) AS name"


def lock_chat_sets(actor_ids: Iterable[UUID], *, shared: bool = False) -> None:
    """Lock the set of chats that these actors are in, until the transaction ends. Call it before chats are locked.

    Adding actors to a chat takes the lock `shared`, so that several people can do it at once. Removing an actor from all
    chats, or updating them in all chats, takes it exclusively. Check after taking the lock that the actors may be added:
    otherwise a person could be added during their removal.
    """
    names = sorted(f"participants:{actor_id}" for actor_id in set(actor_ids))
    with connection.cursor() as cursor:
        cursor.execute((_LOCK_SHARED if shared else _LOCK), [names])


def lock_chats_of(actor: Actor, **where: Any) -> list[ChatActor]:
    """Lock the chats that an actor is in, and return the actor's participant rows. `where` filters these rows.

    The rows are read after the chats are locked, because the actor may leave a chat before that.
    """
    lock_chat_sets([actor.id])
    participants = ChatActor.objects.filter(actor=actor, ended_at=None, **where)
    locked = lock_chats(participants.values_list("chat", flat=True))
    return list(participants.filter(chat__in=locked).select_related("chat__workspace", "actor").order_by("chat_id"))
