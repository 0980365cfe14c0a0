"""Hooks that agents call; the listeners and their order are in `config/hooks.py`."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from actors.models import Actor
from agents.models import AgentSpec, Draft, LockWaiter
from agents.specs.content import SpecContent, Team
from chats.models import Chat
from common.hooks import CollectingHook, Hook
from common.writing import RowUpdate
from tools.interface import Tool

# Called before a draft is applied. Arguments: the actor, the chat, the agent, the content of the draft. A listener may raise an
# `AppError`: then the draft is not applied.
draft_applying: Hook[[Actor, Chat, Actor, SpecContent]] = Hook("draft_applying")
# Called when a draft ends, before its end is written; its `outcome` is set. Arguments: the draft, the actor, the version that it
# was saved as (None: it was not saved). Listeners return updates of rows of its chat, which are written together with the draft.
draft_ended: CollectingHook[[Draft, Actor, AgentSpec | None], RowUpdate[Any]] = CollectingHook("draft_ended")
# Called before a draft is saved. Arguments: the draft, its content, and the ids of the suggestions that the actor knows are not
# used in it. A listener raises `Conflict` if others are not used.
draft_saving: Hook[[Draft, SpecContent, Collection[UUID]]] = Hook("draft_saving")
# Called before the holder of a draft's lock loses it to another actor: a person discards the draft, an operator releases the lock,
# or a person claims or replaces the draft after the lock expired. It is not called when the lock expires, or when the holder or the
# agent leaves the chat. Arguments: the draft before the change, the holder, the actor.
lock_lost: Hook[[Draft, Actor, Actor]] = Hook("lock_lost")
# Called after a person requested a draft from the holder of its lock.
draft_requested: Hook[[LockWaiter]] = Hook("draft_requested")
# Called after the holder of the lock handed a draft over to a person who had requested it. Arguments: the changed draft, the
# former holder.
draft_handed_over: Hook[[Draft, Actor]] = Hook("draft_handed_over")
# Called when the lock of a draft is released or has expired, unless its waitlist is empty. Arguments: the draft, the actor who
# released it (None: it expired), the ids of the people in its waitlist who wait for the lock and may edit the draft.
draft_unlocked: Hook[[Draft, Actor | None, list[UUID]]] = Hook("draft_unlocked")
# Called after a public agent got another name or handle, because the release ships an agent that has them, and after an agent
# that comes with the release got another name, description or avatar.
public_agent_renamed: Hook[[Actor]] = Hook("public_agent_renamed")
# Called when the tools of a run are read whose agent has a team, with its members that may be given tasks. Listeners return the
# tools by which the agent gives them tasks.
find_team_tools: CollectingHook[[Team, Sequence[Actor]], Tool] = CollectingHook("find_team_tools")
