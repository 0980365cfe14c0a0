"""Hooks that agents call; the listeners and their order are in `config/hooks.py`."""

from typing import Any
from uuid import UUID

from actors.models import Actor
from agents.models import AgentSpec, Draft, LockWaiter
from common.hooks import CollectingHook, Hook
from common.writing import RowUpdate

# A draft is about to end; its `outcome` is set. Arguments: the draft, the actor, the version that it was saved as (null: it was
# not saved). Listeners return updates of rows of its chat, which are written together with the draft.
draft_ended: CollectingHook[[Draft, Actor, AgentSpec | None], RowUpdate[Any]] = CollectingHook("draft_ended")
# The holder of a draft lost its lock to the actor. Arguments: the draft before the change, the holder, the actor.
lock_lost: Hook[[Draft, Actor, Actor]] = Hook("lock_lost")
# A person requested a draft from the holder of its lock.
draft_requested: Hook[[LockWaiter]] = Hook("draft_requested")
# The holder of the lock handed a draft over to a person who had requested it. Arguments: the changed draft, the former holder.
draft_handed_over: Hook[[Draft, Actor]] = Hook("draft_handed_over")
# The lock of a draft ended. Arguments: the draft, the actor who released it (null: it expired), the ids of the waiters who may
# edit the draft.
draft_unlocked: Hook[[Draft, Actor | None, list[UUID]]] = Hook("draft_unlocked")
