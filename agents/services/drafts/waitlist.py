"""The waitlist of a lock: people who wait until they can edit a draft, and may request it from the holder of the lock.

The waitlist is emptied when the lock is free. If the lock passes from one person to the next, only the new holder leaves it. Its
rows are changed only with the chat locked, unless they are given up because the notification keeps failing.
"""

import logging
from datetime import timedelta
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from agents.hooks import draft_handed_over, draft_requested
from agents.models import Draft, LockWaiter
from agents.permissions import AgentVerb, list_people_who_may
from agents.selectors import find_draft, get_lock_waiter
from agents.services.drafts import locking
from chats import services as chats
from chats.models import Chat, ChatActor
from common.clock import now
from common.database import is_database_unavailable
from common.errors import Code, Conflict
from common.writing import RowUpdate
from events import audit
from events.rows import SnapshotReason

logger = logging.getLogger(__name__)

RETRY_WINDOW = timedelta(hours=1)
"""The time after the end of a lock in which a failed notification of its waiters is retried."""


@transaction.atomic
def set_wants_notice(actor: Actor, chat_id: UUID, agent_id: UUID, *, wants_notice: bool) -> LockWaiter:
    """Set whether the actor is notified when the lock is free. With true they join the waitlist. With false they stay on it, so
    that their request of the draft is kept.

    Raises `NotFound`, `Forbidden`, and `Conflict` (`draft_yours`, `draft_not_locked`) if there is no lock to wait for.
    """
    chat, agent = locking.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    if not wants_notice:
        LockWaiter.objects.filter(person=actor, draft__chat=chat, draft__agent=agent).update(wants_notice=False)
        return get_lock_waiter(actor, chat_id, agent_id)
    return _join_waitlist(actor, chat, agent)


@transaction.atomic
def request_draft(actor: Actor, chat_id: UUID, agent_id: UUID) -> LockWaiter:
    """Request the draft from the holder of its lock, and wait for it. The holder is notified once per lock and person.

    Raises `NotFound`, `Forbidden`, and `Conflict` (`draft_yours`, `draft_not_locked`).
    """
    chat, agent = locking.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    waiter = _join_waitlist(actor, chat, agent)
    if waiter.requested_at is None:
        waiter.requested_at = now()
        waiter.save(update_fields=["requested_at"])
        draft_requested.call(waiter)
        draft = waiter.draft
        chats.save_changes(chat.id, [RowUpdate(draft).set(requested_by=[*draft.requested_by, actor.id])])
    return waiter


def _join_waitlist(actor: Actor, chat: Chat, agent: Actor) -> LockWaiter:
    """Add the actor to the waitlist, set `wants_notice`, and return the entry. Raises `Conflict` if nobody has the lock
    (`draft_not_locked`), or the actor has it (`draft_yours`)."""
    draft = find_draft(chat.id, agent.id, lock=True)
    if draft is None or not draft.is_locked:
        raise Conflict("Nobody is editing this draft now.", code=Code.DRAFT_NOT_LOCKED, hints=["You can edit it."])
    if draft.lock_holder_id == actor.id:
        raise Conflict("You are editing this draft yourself.", code=Code.DRAFT_YOURS)
    return LockWaiter.objects.update_or_create(draft=draft, person=actor, defaults={"wants_notice": True})[0]


@transaction.atomic
def hand_over_draft(actor: Actor, chat_id: UUID, agent_id: UUID, *, revision: int, to: UUID) -> Draft:
    """Hand the lock of the draft over to the person `to`, who has requested it. The content is kept.

    Raises `NotFound`, `Forbidden`, and `Conflict`: those of `write_draft`, `not_requested`, or `recipient_busy` if the person edits
    another draft or may no longer edit this one.
    """
    chat, agent = locking.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    draft = locking.lock_draft_of_holder(actor, chat, agent, revision=revision)
    if to not in draft.requested_by:
        raise Conflict("This person has not requested the draft.", code=Code.NOT_REQUESTED)
    recipient = _get_recipient(draft, to)

    update = RowUpdate(draft)
    locking.restart_waitlist(update, recipient)
    if draft.updated_by_id != recipient.id:
        locking.save_snapshot(draft, SnapshotReason.TAKEOVER)
    locking.publish_locks_changed(chat)
    update.set(lock_holder=recipient, lock_expires_at=now() + locking.LOCK_DURATION, revision=draft.revision + 1)
    message = chats.build_system_message(chat.id, "LOCK_ACQUIRED", actor=recipient, target=agent)
    chats.save_changes(chat.id, [message, update])
    draft_handed_over.call(draft, actor)
    audit.record(actor, "draft.handed_over", workspace_id=chat.workspace_id, object_id=draft.id, to=str(recipient.id))
    return draft


def _get_recipient(draft: Draft, person_id: UUID) -> Actor:
    """Return the person if they may edit this draft and do not edit another one. Raises `Conflict` (`recipient_busy`)."""
    busy = Conflict(
        "This person cannot edit the draft now.",
        code=Code.RECIPIENT_BUSY,
        hints=["Close the draft instead: they are notified."],
    )
    participants = ChatActor.objects.filter(chat=draft.chat_id, ended_at=None).values("actor")
    editors = list_people_who_may(draft.agent, AgentVerb.EDIT_DRAFT)
    recipient = editors.filter(pk=person_id).filter(pk__in=participants).first()
    if recipient is None:
        raise busy
    try:
        locking.check_holds_no_other_lock(recipient, draft.chat_id, draft.agent_id)
    except Conflict as error:
        # The error does not name the other draft: the holder may not be in its chat.
        raise busy from error
    return recipient


def remove_lock_waiters(chat: Chat, actor: Actor) -> None:
    """Remove a person who leaves the chat from the waitlists of its drafts. If an agent leaves, empty that of the agent's draft."""
    waiters = LockWaiter.objects.filter(draft__chat=chat)
    (waiters.filter(person=actor) | waiters.filter(draft__agent=actor)).delete()


def notify_expired_locks() -> None:
    """Notify the waiters of locks that have expired. The sweeper calls this, because no request ends such a lock."""
    waiters = LockWaiter.objects.exclude(draft__ended_at=None, draft__lock_expires_at__gt=now())
    columns = ("draft_id", "draft__chat_id", "draft__lock_expires_at")
    for draft_id, chat_id, lock_expires_at in waiters.values_list(*columns).distinct().order_by("draft_id"):
        try:
            _notify_expired_lock(draft_id, chat_id)
        except MemoryError:
            raise
        except Exception as error:
            if is_database_unavailable(error):
                raise
            # One failure must not keep the other waiters from their notification, nor be retried forever.
            logger.exception("The waiters for the draft %s cannot be notified.", draft_id)
            if lock_expires_at is None or lock_expires_at < now() - RETRY_WINDOW:
                LockWaiter.objects.filter(draft=draft_id).delete()


@transaction.atomic
def _notify_expired_lock(draft_id: UUID, chat_id: UUID) -> None:
    chats.lock_chat(chat_id)
    # `write_draft` renews the lock without locking the chat, so the row is locked, and read afterwards.
    list(Draft.objects.select_for_update().filter(pk=draft_id).values_list("pk"))
    draft = Draft.objects.select_related("agent", "chat").get(pk=draft_id)
    if not draft.is_locked:
        locking.notify_lock_waiters(draft, None)
