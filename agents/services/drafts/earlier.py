"""What a draft said before somebody else's words took its place: nothing that was written is lost."""

from typing import Literal
from uuid import UUID

from django.db.models import QuerySet

from actors.models import Actor
from agents.models import Draft, EarlierText
from agents.services.drafts.holding import live, no_draft
from chats.permissions import ChatVerb, get_chat_for


def earlier_texts(*, actor: Actor, chat_id: UUID, agent_id: UUID) -> QuerySet[EarlierText]:
    """What the live draft said before, for everybody in the room. Raises `NotFound` (`no_draft`)."""
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE)
    draft = live(chat.id, agent_id)
    if draft is None:
        raise no_draft()
    return draft.earlier_texts.select_related("author")


def keep(draft: Draft, why: Literal["takeover", "merge", "revise", "rebase"]) -> None:
    """Keep what is written, before it is replaced. The draft's row is locked; its revision rises afterwards.

    Nothing to keep: what production says, and what is kept already.
    """
    spec = draft.agent.current_spec
    is_production = spec is not None and spec.content().as_json() == draft.written
    if not is_production and not draft.earlier_texts.filter(written=draft.written).exists():
        EarlierText.objects.create(
            draft=draft, revision=draft.revision, written=draft.written, author=draft.updated_by, why=why
        )
