"""Whose the draft is: one holder, one draft per person, and what everybody else is told (C1–C3, guarantees §2.8).

What every deed on a draft begins with. The caller's transaction is open, and the chat is taken first.
"""

from datetime import timedelta
from uuid import UUID

from django.db import connection

from actors.models import Actor
from agents.models import Draft
from agents.permissions import AgentVerb, get_agent_for
from agents.seams import lock_lost
from chats.models import Chat, ChatActor
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Code, Conflict, NotFound

HOLD = timedelta(minutes=30)
FREE = {"holder": None, "held_until": None}


def room_of(actor: Actor, chat_id: UUID, agent_id: UUID, verb: AgentVerb) -> tuple[Chat, Actor]:
    """The chat, held, and the agent, when `actor` may do this with it and both take part. Raises `NotFound`, `Forbidden`."""
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE, lock=True)
    agent = get_agent_for(actor, agent_id, verb)
    if not ChatActor.objects.filter(chat=chat, actor=agent, ended_at=None).exists():
        raise NotFound("This agent is not in this chat.")
    return chat, agent


def live(chat_id: UUID, agent_id: UUID, *, lock: bool = False) -> Draft | None:
    """The draft that is not over. `lock` holds its row: its holder may be typing, which takes no chat."""
    drafts = Draft.objects.filter(chat_id=chat_id, agent_id=agent_id, ended_at=None)
    if lock:
        # Alone, before it is read: a row that was waited for does not come at all when whom it is joined with has changed.
        list(drafts.select_for_update().values_list("pk"))
    return drafts.select_related("applied", "holder", "agent", "updated_by").first()


def held(chat: Chat, agent: Actor, actor: Actor, revision: int) -> Draft:
    """The live draft, its row locked, when `actor` holds it and knows its latest revision. Raises `NotFound`, `Conflict`."""
    draft = live(chat.id, agent.id, lock=True)
    if draft is None or draft.holder_id != actor.id or not is_held(draft) or draft.revision != revision:
        raise cannot_write(draft, actor)
    return draft


def is_held(draft: Draft) -> bool:
    return draft.held_until is not None and draft.held_until > now()


def one_at_most(actor: Actor, chat_id: UUID, agent_id: UUID) -> None:
    """One draft per person, anywhere. The advisory lock makes two tabs of one person ask one after the other.

    Raises `Conflict` (`holding_another`) naming the other.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"holds:{actor.id}"])
    theirs = Draft.objects.filter(holder=actor, held_until__gt=now(), ended_at=None).select_related("agent", "chat")
    other = theirs.exclude(chat_id=chat_id, agent_id=agent_id).first()
    if other is not None:
        # Which one is in `data` alone: the text is kept where a merge failed, for everybody in its workspace.
        raise Conflict(
            "You are writing another draft.", code=Code.HOLDING_ANOTHER,
            hints=["Save, discard or close that draft first."],
            data={"chat_id": str(other.chat_id), "agent_id": str(other.agent_id), "agent_name": other.agent.name,
                  "chat_title": other.chat.title},
        )  # fmt: skip


def tell_who_lost_it(draft: Draft, taker: Actor) -> None:
    """Before a draft changes hands or ends: whoever held it until now hears of it, unless they do it themselves."""
    if draft.holder is not None and draft.holder_id != taker.id:
        lock_lost(draft, draft.holder, taker)


def no_draft() -> NotFound:
    return NotFound("There is no draft of this agent in this chat.", code=Code.NO_DRAFT)


def held_by_other(draft: Draft) -> Conflict:
    assert draft.holder is not None
    assert draft.held_until is not None
    return Conflict(
        f"{draft.holder.name} is writing here.", code=Code.DRAFT_HELD,
        hints=["You can read along; it is free when they finish, or 30 minutes after their last change."],
        data={"holder_id": str(draft.holder_id), "holder_name": draft.holder.name,
              "held_until": draft.held_until.isoformat()},
    )  # fmt: skip


def cannot_write(draft: Draft | None, actor: Actor) -> Exception:
    """Why a fenced write changed no row: never the writer's fault, and their words stay with them (C2)."""
    if draft is None:
        return no_draft()
    if draft.holder_id != actor.id and is_held(draft):
        return held_by_other(draft)
    return Conflict(
        "Your hold on this draft is over, or it was changed in another tab.", code=Code.STALE_REVISION,
        hints=["Your text is safe with you: take the draft again and paste it."],
        data={"draft": draft.row().model_dump(mode="json")},
    )  # fmt: skip
