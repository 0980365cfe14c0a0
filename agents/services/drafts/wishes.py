"""Who waits for a draft that somebody else holds: asking the holder for it, and being told when it is free.

A wish lasts until the hold has ended, in whatever way; then it is used up. The chat is held by whoever changes one.
"""

from uuid import UUID

from django.db import transaction

from actors.models import Actor
from agents.models import Draft, DraftWish
from agents.permissions import AgentVerb, people_who_may
from agents.seams import draft_asked, draft_free
from agents.services.drafts import holding
from chats import services as chats
from chats.models import Chat, ChatActor
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Code, Conflict


def read_wish(*, actor: Actor, chat_id: UUID, agent_id: UUID) -> DraftWish:
    """What `actor` wishes of the live draft; a blank one when nothing. Raises `NotFound` (`no_draft`)."""
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE)
    draft = holding.live(chat.id, agent_id)
    if draft is None:
        raise holding.no_draft()
    return draft.wishes.filter(person=actor).first() or DraftWish()


@transaction.atomic
def set_wish(*, actor: Actor, chat_id: UUID, agent_id: UUID, is_waiting: bool) -> DraftWish:
    """Whether `actor` is to be told when the draft is free. Raises `Conflict` (`draft_yours`, `draft_free`) when there is
    nothing to wait for."""
    chat, agent = holding.room_of(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    if not is_waiting:
        DraftWish.objects.filter(person=actor, draft__chat=chat, draft__agent=agent).update(is_waiting=False)
        return read_wish(actor=actor, chat_id=chat_id, agent_id=agent_id)
    return _wished(_of_somebody_else(chat, agent, actor), actor)


@transaction.atomic
def ask_for_draft(*, actor: Actor, chat_id: UUID, agent_id: UUID) -> DraftWish:
    """Ask the holder for the draft, and wait for it. Asking again while they hold it changes nothing: `asked_at` says since
    when. Raises `Conflict` as `set_wish` does."""
    chat, agent = holding.room_of(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    wish = _wished(_of_somebody_else(chat, agent, actor), actor)
    if wish.asked_at is None:
        wish.asked_at = now()
        wish.save(update_fields=["asked_at"])
        draft_asked(wish)
    return wish


def _of_somebody_else(chat: Chat, agent: Actor, actor: Actor) -> Draft:
    draft = holding.live(chat.id, agent.id)
    if draft is None or not holding.is_held(draft):
        raise Conflict("Nobody writes here now.", code=Code.DRAFT_FREE, hints=["You can take the draft."])
    if draft.holder_id == actor.id:
        raise Conflict("You write here yourself.", code=Code.DRAFT_YOURS)
    return draft


def _wished(draft: Draft, actor: Actor) -> DraftWish:
    return DraftWish.objects.update_or_create(draft=draft, person=actor, defaults={"is_waiting": True})[0]


# --- what becomes of wishes ---------------------------------------------------------------------------------------


def free(draft: Draft, by: Actor) -> Draft:
    """Nobody holds the draft any more, and who waited for that is told. The caller writes it."""
    draft.set(**holding.FREE)
    freed(draft, by)
    return draft


def freed(draft: Draft, by: Actor | None) -> None:
    """The hold has ended; `by` nobody when its time ran out. Who waits and may still take the draft is told; every wish is
    used up."""
    wishes = list(DraftWish.objects.filter(draft=draft))
    if not wishes:
        return
    DraftWish.objects.filter(draft=draft).delete()
    waiting = [wish.person_id for wish in wishes if wish.is_waiting]
    here = ChatActor.objects.filter(chat=draft.chat_id, ended_at=None).values("actor")
    able = people_who_may(draft.agent, AgentVerb.EDIT_DRAFT).filter(pk__in=waiting).filter(pk__in=here)
    draft_free(draft, by, list(able.values_list("pk", flat=True)))


def taken(draft: Draft, taker: Actor) -> None:
    """Another hold begins: who took the draft waits no more; the others do, and may ask anew."""
    DraftWish.objects.filter(draft=draft, person=taker).delete()
    DraftWish.objects.filter(draft=draft).update(asked_at=None)


def forget_wishes(chat: Chat, actor: Actor) -> None:
    """Somebody leaves a chat: a person waits for nothing there any more, and for an agent that is gone nobody does."""
    there = DraftWish.objects.filter(draft__chat=chat)
    (there.filter(person=actor) | there.filter(draft__agent=actor)).delete()


def tell_who_waits() -> None:
    """Holds whose time ran out end without anybody's deed: the sweeper finds who waited for that."""
    over = DraftWish.objects.exclude(draft__ended_at=None, draft__held_until__gt=now())
    for draft_id, chat_id in over.values_list("draft_id", "draft__chat_id").distinct().order_by("draft_id"):
        _tell_who_waits_for(draft_id, chat_id)


@transaction.atomic
def _tell_who_waits_for(draft_id: UUID, chat_id: UUID) -> None:
    chats.hold_chat(chat_id)
    # Its holder may be typing, which takes no chat and renews the hold.
    list(Draft.objects.select_for_update().filter(pk=draft_id).values_list("pk"))
    draft = Draft.objects.select_related("agent", "chat").get(pk=draft_id)
    if not holding.is_held(draft):
        freed(draft, None)
