"""An agent that is told to change itself: its new prompt becomes a draft for people to review, never more (S0.10)."""

from uuid import UUID

from django.db import transaction

from actors.models import Actor
from agents.content import SpecContent
from agents.merging import told_by
from agents.models import AgentSpec, Draft
from agents.permissions import AgentVerb
from agents.services.drafts import holding
from agents.services.drafts.placing import place_draft
from agents.services.drafts.words import whose_words
from chats import services as chats
from common.errors import Code, Conflict
from events.rows import Piece, Provenance, Voice


@transaction.atomic
def revise_prompt(*, agent: Actor, person: Actor, chat_id: UUID, prompt: str, reason: str) -> Draft:
    """Put a new prompt into the chat's draft, as `person`, who may save the agent: on top of what is written there, else of
    production. Nobody holds the draft afterwards, and nothing is applied.

    Raises `NotFound`, `Forbidden`, and `Conflict`: `draft_held` by whoever writes there, `nothing_changed`.
    """
    chat, found = holding.room_of(person, chat_id, agent.id, AgentVerb.SAVE)
    draft = holding.live(chat.id, agent.id, lock=True)
    if draft is not None and holding.is_held(draft):
        raise holding.held_by_other(draft)
    base = _base(found, draft)
    written = SpecContent.model_validate(draft.written) if draft else base.content()
    if written.prompt == prompt:
        raise Conflict("The prompt says this already.", code=Code.NOTHING_CHANGED)
    line = chats.system_line(chat.id, "DRAFT_STARTED", actor=person, target=agent, via=agent.name, note=reason)
    return place_draft(
        actor=person, chat_id=chat.id, agent_id=agent.id, base=base, line=line, hold=False,
        content=SpecContent.model_validate(written.model_dump() | {"prompt": prompt}),
        provenance=_provenance(draft, base.content(), person, prompt),
    )  # fmt: skip


def _base(agent: Actor, draft: Draft | None) -> AgentSpec:
    if draft is not None:
        return AgentSpec.objects.get(agent=agent, number=draft.base_version)
    assert agent.current_spec is not None
    return agent.current_spec


def _provenance(draft: Draft | None, base: SpecContent, person: Actor, prompt: str) -> Provenance:
    voices, pieces = whose_words(draft, base) if draft else ([], [Piece(text=base.prompt)])
    voice = Voice(id=person.id, actor_id=person.id, name=person.name)
    told = told_by(pieces, [(voice.id, prompt)])
    return Provenance(origin="revise", voices=[*(one for one in voices if one.id != voice.id), voice], pieces=told)
