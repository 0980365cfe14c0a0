"""What people are told of when something happens below: one listener for each seam (config/seams.py)."""

from typing import Any, Literal
from uuid import UUID

from actors.models import Actor, Kind
from agents.models import Draft, DraftWish
from agents.permissions import AgentVerb, people_who_may
from chats.models import Chat, ChatActor, Message
from notifications.models import Notification
from notifications.services.reading import mark_mentions_read
from notifications.services.telling import tell
from suggestions.models import Merge, MergeState, Suggestion

EXCERPT = Notification._meta.get_field("excerpt").max_length or 0


def mentions(chat: Chat, message: Message) -> list[None]:
    """Who is mentioned is told; of most messages, which mention nobody, nothing is asked (P1)."""
    mentioned = message.payload.get("mentions", [])
    if message.author is None or not mentioned:
        return []
    people = ChatActor.objects.filter(chat=chat, ended_at=None, actor__kind=Kind.HUMAN, actor__in=mentioned)
    tell(
        people.values_list("actor_id", flat=True), event=_event("mention", message.id), type="mention",
        workspace_id=chat.workspace_id, actor=message.author, chat_id=chat.id, message_id=message.id,
        excerpt=_excerpt(message.text),
    )  # fmt: skip
    return []


def chat_read(chat: Chat, actor: Actor, seq: int) -> list[None]:
    """Who reads on in a chat has seen its mentions."""
    mark_mentions_read(person=actor, chat=chat, seq=seq)
    return []


def suggestion_changed(
    suggestion: Suggestion, what: Literal["created", "accepted", "rejected", "reopened"], actor: Actor
) -> list[None]:
    """A new suggestion concerns who may review it; what became of it concerns its author."""
    is_new = what == "created"
    reviewers = people_who_may(suggestion.agent, AgentVerb.REVIEW).values_list("pk", flat=True)
    tell(
        reviewers if is_new else [suggestion.author_id], event=_event(what, suggestion.id, suggestion.merge_id),
        type=f"suggestion_{what}", workspace_id=suggestion.workspace_id, actor=actor, agent_name=suggestion.agent.name,
        chat_id=suggestion.chat_id, agent_id=suggestion.agent_id, suggestion_id=suggestion.id,
        merge_id=suggestion.merge_id,
        excerpt=_excerpt(suggestion.reason if what == "rejected" else suggestion.note),
    )  # fmt: skip
    return []


def merge_ended(merge: Merge) -> list[None]:
    """Who asked for a merge that took its time; why it failed, by its code. What was copied is in the answer to their request."""
    if merge.method == "copied" or merge.state not in (MergeState.DONE, MergeState.FAILED):
        return []
    tell(
        [merge.by_id], event=_event(merge.state, merge.id, merge.ended_at and merge.ended_at.timestamp()),
        type=f"merge_{merge.state}", workspace_id=merge.workspace_id, actor=None, agent_name=merge.agent.name,
        chat_id=merge.chat_id, agent_id=merge.agent_id, merge_id=merge.id, excerpt=merge.error_code,
    )  # fmt: skip
    return []


def lock_lost(draft: Draft, holder: Actor, taker: Actor) -> list[None]:
    """Who held a draft is told who has it now."""
    tell([holder.id], event=_event("lock", draft.id, draft.revision), type="lock_lost", actor=taker, **_where(draft))
    return []


def draft_asked(wish: DraftWish) -> list[None]:
    """Who holds a draft is told who would like it."""
    draft = wish.draft
    if draft.holder_id and wish.asked_at:
        tell(
            [draft.holder_id], event=_event("asked", wish.id, wish.asked_at.timestamp()), type="draft_asked",
            actor=wish.person, **_where(draft),
        )  # fmt: skip
    return []


def draft_free(draft: Draft, by: Actor | None, waiting: list[UUID]) -> list[None]:
    """Who waited for a draft is told that it is free."""
    tell(waiting, event=_event("free", draft.id, draft.revision), type="draft_free", actor=by, **_where(draft))
    return []


def _where(draft: Draft) -> dict[str, Any]:
    """What a notification about a draft leads to: the workshop of its agent, in its chat."""
    return {"workspace_id": draft.chat.workspace_id, "agent_name": draft.agent.name, "chat_id": draft.chat_id,
            "agent_id": draft.agent_id}  # fmt: skip


def _event(what: str, *which: object) -> str:
    """A name for what happened; the same when it is told again."""
    return ":".join([what, *(one.hex if isinstance(one, UUID) else str(one) for one in which)])


def _excerpt(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: EXCERPT * 4].split())
    return line if len(line) <= EXCERPT else f"{line[: EXCERPT - 1]}…"
