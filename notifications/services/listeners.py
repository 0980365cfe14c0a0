"""Listeners that notify people of events in other apps, one for each hook in `config/hooks.py`."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from actors.models import Actor, Kind
from agents.models import Draft, LockWaiter
from agents.permissions import AgentVerb, people_who_may
from chats.hooks import ReadCursor
from chats.models import Chat, ChatActor, Message
from chats.services.messages import MENTION
from notifications.models import Notification
from notifications.services.notifying import notify
from notifications.services.reading import mark_mentions_read
from suggestions.hooks import SuggestionChange
from suggestions.models import Merge, MergeState, Suggestion
from workspaces.models import Credential, Membership

MAX_EXCERPT_CHARACTERS = Notification._meta.get_field("excerpt").max_length or 0


def mentions(chat: Chat, message: Message) -> None:
    """Notify the people whom a message mentions. A message without mentions makes no query."""
    mentioned = message.payload.get("mentions", [])
    if message.author is None or not mentioned:
        return
    people = ChatActor.objects.filter(chat=chat, ended_at=None, actor__kind=Kind.HUMAN, actor__in=mentioned)
    notify(
        people.values_list("actor_id", flat=True), event=_event("mention", message.id), type="mention",
        workspace_id=chat.workspace_id, actor=message.author, chat_id=chat.id, message_id=message.id,
        excerpt=_excerpt(_with_names(message.text[: MAX_EXCERPT_CHARACTERS * 4], mentioned)),
    )  # fmt: skip


def chats_read(marks: Sequence[ReadCursor]) -> None:
    """Mark the mentions that people have seen by reading."""
    mark_mentions_read(marks)


def suggestion_changed(suggestion: Suggestion, what: SuggestionChange, actor: Actor) -> None:
    """Notify reviewers of a new suggestion, and its author of what becomes of it."""
    is_new = what == "created"
    reviewers = people_who_may(suggestion.agent, AgentVerb.REVIEW).values_list("pk", flat=True)
    notify(
        reviewers if is_new else [suggestion.author_id], event=_event(what, suggestion.id, suggestion.merge_id),
        type=f"suggestion_{what}", workspace_id=suggestion.workspace_id, actor=actor, agent_name=suggestion.agent.name,
        chat_id=suggestion.chat_id, agent_id=suggestion.agent_id, suggestion_id=suggestion.id,
        merge_id=suggestion.merge_id,
        excerpt=_excerpt(suggestion.reason if what == "rejected" else suggestion.note),
    )  # fmt: skip


def merge_ended(merge: Merge) -> None:
    """Notify the person who asked for a merge. A copied one ends within the request, and is not notified."""
    if merge.method == "copied" or merge.state not in (MergeState.DONE, MergeState.FAILED):
        return
    notify(
        [merge.by_id], event=_event(merge.state, merge.id, merge.ended_at and merge.ended_at.timestamp()),
        type=f"merge_{merge.state}", workspace_id=merge.workspace_id, actor=None, agent_name=merge.agent.name,
        chat_id=merge.chat_id, agent_id=merge.agent_id, merge_id=merge.id, excerpt=merge.error_code,
    )  # fmt: skip


def model_changed(credential: Credential, actor: Actor) -> None:
    """Notify all members that chats with agents are sent to another provider or host from now on."""
    members = Membership.objects.filter(workspace=credential.workspace_id).values_list("actor_id", flat=True)
    where = urlsplit(credential.api_base).netloc or credential.get_provider_display()
    notify(
        members, event=_event("model", credential.id, credential.revision), type="model_changed",
        workspace_id=credential.workspace_id, actor=actor, excerpt=_excerpt(where),
    )  # fmt: skip


def lock_lost(draft: Draft, holder: Actor, taker: Actor) -> None:
    """Notify the former holder of a draft of the person who took it."""
    notify([holder.id], event=_event("lock", draft.id, draft.revision), type="lock_lost", actor=taker, **_where(draft))


def draft_requested(waiter: LockWaiter) -> None:
    """Notify the holder of a draft of the person who asks for it."""
    draft = waiter.draft
    if draft.lock_holder_id and waiter.requested_at:
        notify(
            [draft.lock_holder_id], event=_event("asked", waiter.id, waiter.requested_at.timestamp()), type="draft_requested",
            actor=waiter.person, **_where(draft),
        )  # fmt: skip


def draft_handed_over(draft: Draft, by: Actor) -> None:
    """Notify the person who asked for a draft that they have it now."""
    if draft.lock_holder_id:
        event = _event("handed", draft.id, draft.revision)
        notify([draft.lock_holder_id], event=event, type="draft_handed_over", actor=by, **_where(draft))


def draft_unlocked(draft: Draft, by: Actor | None, waiting: list[UUID]) -> None:
    """Notify the people who waited for a draft that its lock is free."""
    notify(waiting, event=_event("free", draft.id, draft.revision), type="draft_unlocked", actor=by, **_where(draft))


def _where(draft: Draft) -> dict[str, Any]:
    """Return the fields of a notification about a draft, which leads to the workshop of its agent in its chat."""
    return {"workspace_id": draft.chat.workspace_id, "agent_name": draft.agent.name, "chat_id": draft.chat_id,
            "agent_id": draft.agent_id}  # fmt: skip


def _event(what: str, *which: object) -> str:
    """Return the name of an event; the same event has the same name."""
    return ":".join([what, *(one.hex if isinstance(one, UUID) else str(one) for one in which)])


def _with_names(text: str, mentioned: list[UUID]) -> str:
    """Return the text with the names of those who are mentioned in place of their handles."""
    names = dict(Actor.objects.filter(pk__in=mentioned).values_list("handle", "name"))
    return MENTION.sub(lambda called: f"@{names.get(called[1].lower(), called[1])}", text)


def _excerpt(text: str) -> str:
    """Return the beginning of a text, on one line."""
    line = " ".join(text[: MAX_EXCERPT_CHARACTERS * 4].split())
    return line if len(line) <= MAX_EXCERPT_CHARACTERS else f"{line[: MAX_EXCERPT_CHARACTERS - 1]}…"
