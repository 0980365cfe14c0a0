"""How a draft ends: saved as the next version, handed in as a suggestion, or thrown away (S0.9, S0.11)."""

from typing import Literal
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from agents.content import SpecContent
from agents.models import AgentSpec, Draft, Origin
from agents.permissions import AgentVerb, agent_verbs, get_agent_for
from agents.seams import draft_ended
from agents.services.drafts import holding
from agents.services.drafts.wishes import free
from agents.services.specs import check_content, write_spec
from chats import services as chats
from chats.models import Chat, InChat, Message
from common.clock import now
from common.errors import Code, Conflict, Forbidden
from events import audit
from events.bells import ring_workspace


def ended(
    draft: Draft, actor: Actor, how: Literal["saved", "discarded", "suggested"], spec: AgentSpec | None = None
) -> list[InChat]:
    """The draft as it ends, and the rows of its chat that change with it. The caller writes them."""
    draft.set(ended_at=now(), ended_how=how)
    return [free(draft, actor), *draft_ended(draft, actor, spec)]


@transaction.atomic
def save_draft(
    *, actor: Actor, chat_id: UUID, agent_id: UUID, revision: int, base_version: int, message: str = ""
) -> AgentSpec:
    """Make the written text the next version, everywhere; the draft is gone (S0.9).

    Raises `Conflict`: `stale_revision`, or `stale_base` with today's production when it is not `base_version` any more.
    """
    chat, agent = holding.room_of(actor, chat_id, agent_id, AgentVerb.SAVE)
    draft = holding.held(chat, agent, actor, revision)
    agent = get_agent_for(actor, agent_id, AgentVerb.SAVE, lock=True)
    number = _next_number(agent, draft, base_version)
    content = SpecContent.model_validate(draft.written)
    check_content(content)
    spec = write_spec(agent, content, author=actor, origin=Origin.DRAFT, number=number, message=message,
                      base_number=base_version)  # fmt: skip
    agent.current_spec = spec
    agent.save(update_fields=["current_spec"])
    line = chats.system_line(chat.id, "SPEC_SAVED", actor=actor, target=agent, version=number, note=spec.message)
    chats.changed(chat.id, rows=[line, *ended(draft, actor, "saved", spec)])
    audit.record(actor, "spec.saved", workspace_id=chat.workspace_id, object_id=agent.id, version=number)
    if agent.workspace_id:
        ring_workspace(agent.workspace_id, "agents")
    return spec


def _next_number(agent: Actor, draft: Draft, base_version: int) -> int:
    spec = agent.current_spec
    assert spec is not None
    assert spec.number is not None
    if base_version != draft.base_version or base_version != spec.number:
        raise Conflict(
            f"{agent.name} is at v{spec.number} by now; this draft was begun on v{draft.base_version}.",
            code=Code.STALE_BASE, hints=["Compare with today's production, then save on top of it."],
            data={"production": spec.row().model_dump(mode="json")},
        )  # fmt: skip
    return spec.number + 1


@transaction.atomic
def hand_in_draft(*, actor: Actor, chat_id: UUID, agent_id: UUID, revision: int, line: Message) -> Draft:
    """Give a draft up as a suggestion: it is over and the hold is free. `line` is written with it.

    Returns the draft with what was written in it. Raises `Conflict` as a write does.
    """
    chat, agent = holding.room_of(actor, chat_id, agent_id, AgentVerb.SUGGEST)
    draft = holding.held(chat, agent, actor, revision)
    chats.changed(chat.id, rows=[line, *ended(draft, actor, "suggested")])
    audit.record(actor, "draft.suggested", workspace_id=chat.workspace_id, object_id=draft.id)
    return draft


@transaction.atomic
def discard_draft(*, actor: Actor, chat_id: UUID, agent_id: UUID, revision: int) -> Draft:
    """Throw a draft away: one's own, or any as an editor. Production answers again here.

    Raises `Forbidden` for somebody else's, `Conflict` when `revision` is not what stands there.
    """
    chat, agent = holding.room_of(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    draft = _discardable(chat, agent, actor, revision)
    holding.tell_who_lost_it(draft, actor)
    line = chats.system_line(chat.id, "DRAFT_DISCARDED", actor=actor, target=agent)
    chats.changed(chat.id, rows=[line, *ended(draft, actor, "discarded")])
    audit.record(actor, "draft.discarded", workspace_id=chat.workspace_id, object_id=draft.id)
    return draft


def _discardable(chat: Chat, agent: Actor, actor: Actor, revision: int) -> Draft:
    draft = holding.live(chat.id, agent.id, lock=True)
    if draft is None:
        raise holding.no_draft()
    if AgentVerb.DISCARD_ANY not in agent_verbs(agent):
        if draft.holder_id != actor.id and holding.is_held(draft):
            raise holding.held_by_other(draft)
        if draft.created_by_id != actor.id:
            raise Forbidden("You can discard your own drafts only.", hints=["Ask an editor."])
    if draft.revision != revision:
        raise holding.cannot_write(draft, actor)
    return draft
