"""A draft of words that were not typed: of a merge, or of an agent that was told to change itself (S0.10, S0.12)."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from agents.content import SpecContent
from agents.models import AgentSpec, Draft
from agents.permissions import AgentVerb
from agents.services.drafts import holding
from agents.services.drafts.earlier import keep
from agents.services.drafts.wishes import freed, taken
from agents.services.specs import check_content
from chats import services as chats
from chats.models import InChat, Message
from common.clock import now
from events import audit
from events.rows import Provenance


@transaction.atomic
def place_draft(
    *, actor: Actor, chat_id: UUID, agent_id: UUID, content: SpecContent, base: AgentSpec, provenance: Provenance,
    line: Message, hold: bool, rows: Sequence[InChat] = (),
) -> Draft:  # fmt: skip
    """Put these words, made on version `base`, into the chat's draft, as `actor`, who holds it then or leaves it free.

    What was written there is kept. `line` and `rows` are written with it. Nothing is applied.
    Raises `Conflict`: `draft_held` (by anybody, when it is to be left free), `holding_another` (when it is to be held).
    """
    chat, agent = holding.room_of(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    check_content(content)
    if hold:
        holding.one_at_most(actor, chat_id, agent_id)
    draft = holding.live(chat.id, agent.id, lock=True)
    if draft is None:
        draft = Draft(chat=chat, agent=agent, created_by=actor)
    else:
        _make_way(draft, actor, content, provenance, hold=hold)
    held = {"holder": actor, "held_until": now() + holding.HOLD} if hold else holding.FREE
    draft.set(
        written=content.as_json(), provenance=provenance.model_dump(mode="json"), base_version=base.number,
        updated_by=actor, updated_at=now(), **held,
    )  # fmt: skip
    chats.changed(chat.id, rows=[line, draft, *rows])
    audit.record(actor, "draft.placed", workspace_id=chat.workspace_id, object_id=draft.id, origin=provenance.origin)
    return draft


def _make_way(draft: Draft, actor: Actor, content: SpecContent, provenance: Provenance, *, hold: bool) -> None:
    """Keep what stands in a draft that is free to be written over, and fence off whoever wrote it."""
    if holding.is_held(draft) and not (hold and draft.holder_id == actor.id):
        raise holding.held_by_other(draft)
    if not holding.is_held(draft):
        (taken if hold else freed)(draft, actor)
    holding.tell_who_lost_it(draft, actor)
    if draft.written != content.as_json():
        keep(draft, provenance.origin)
    draft.set(revision=draft.revision + 1)
