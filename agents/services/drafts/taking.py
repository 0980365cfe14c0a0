"""Beginning to write, and stopping: how a draft comes to somebody's hands and leaves them."""

from typing import Any
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from agents.content import SpecContent
from agents.models import Draft
from agents.permissions import AgentVerb
from agents.services.drafts import holding
from agents.services.drafts.earlier import keep
from agents.services.drafts.ending import ended
from agents.services.drafts.wishes import free, taken
from agents.services.specs import check_content
from chats import services as chats
from chats.models import Chat, InChat
from common.clock import now
from common.errors import Code, Conflict
from events import audit


@transaction.atomic
def take_draft(*, actor: Actor, chat_id: UUID, agent_id: UUID, content: SpecContent | None = None) -> Draft:
    """Begin to write: make the draft, or take one whose hold is free or over, or one's own from another tab.

    Raises `Conflict`: `draft_held` naming who writes, `holding_another` naming where this person already does.
    """
    chat, agent = holding.room_of(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    if content is not None:
        check_content(content)
    holding.one_at_most(actor, chat_id, agent_id)
    draft = holding.live(chat.id, agent.id, lock=True)
    if draft is None:
        return _started(chat, agent, actor, content)
    return _taken(draft, agent, actor, content)


def _started(chat: Chat, agent: Actor, actor: Actor, content: SpecContent | None) -> Draft:
    spec = agent.current_spec
    assert spec is not None
    assert spec.number is not None
    draft = Draft(
        chat=chat, agent=agent, written=(content or spec.content()).as_json(), base_version=spec.number, holder=actor,
        held_until=now() + holding.HOLD, created_by=actor, updated_by=actor,
    )  # fmt: skip
    chats.changed(chat.id, rows=[chats.system_line(chat.id, "DRAFT_STARTED", actor=actor, target=agent), draft])
    audit.record(actor, "draft.started", workspace_id=chat.workspace_id, object_id=draft.id)
    return draft


def _taken(draft: Draft, agent: Actor, actor: Actor, content: SpecContent | None) -> Draft:
    """Take a hold. The revision is bumped, so that whoever held it before can write no more (fencing)."""
    if draft.holder_id != actor.id and holding.is_held(draft):
        raise holding.held_by_other(draft)
    line = []
    if not holding.is_held(draft):
        taken(draft, actor)
    if draft.holder_id != actor.id:
        line = [chats.system_line(draft.chat_id, "LOCK_ACQUIRED", actor=actor, target=agent)]
        holding.tell_who_lost_it(draft, actor)
    if draft.updated_by_id != actor.id:
        keep(draft, "takeover")
    chats.changed(draft.chat_id, rows=[*line, draft.set(**_in_hand(draft, actor, content))])
    audit.record(actor, "draft.taken", object_id=draft.id)
    return draft


def _in_hand(draft: Draft, actor: Actor, content: SpecContent | None) -> dict[str, Any]:
    taken = {"holder": actor, "held_until": now() + holding.HOLD, "revision": draft.revision + 1}
    words = {"written": content.as_json(), "updated_by": actor, "updated_at": now()} if content else {}
    return taken | words


@transaction.atomic
def release_draft(*, actor: Actor, chat_id: UUID, agent_id: UUID, revision: int) -> Draft:
    """Stop writing and let others: the text stays. A draft in which nothing was changed is gone instead."""
    chat, agent = holding.room_of(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    draft = holding.held(chat, agent, actor, revision)
    chats.changed(chat.id, rows=_let_go(draft, agent, actor))
    return draft


def _let_go(draft: Draft, agent: Actor, actor: Actor) -> list[InChat]:
    assert agent.current_spec is not None
    if draft.applied_id is None and draft.written == agent.current_spec.content().as_json():
        return ended(draft, actor, "discarded")
    return [chats.system_line(draft.chat_id, "LOCK_RELEASED", actor=actor, target=agent), free(draft, actor)]


@transaction.atomic
def free_draft(draft: Draft, operator: Actor) -> None:
    """An operator takes the hold away from whoever has it; the text stays, and it is logged (C3)."""
    chats.hold_chat(draft.chat_id)
    found = holding.live(draft.chat_id, draft.agent_id, lock=True)
    if found is None or found.holder_id is None:
        raise Conflict("Nobody holds this draft.", code=Code.NO_DRAFT)
    holding.tell_who_lost_it(found, operator)
    line = chats.system_line(found.chat_id, "LOCK_RELEASED", actor=operator, target=found.agent)
    chats.changed(found.chat_id, rows=[line, free(found, operator)])
    audit.record(operator, "draft.freed", object_id=found.id)
