"""The edit lock of a draft: one holder per draft, one draft per person (EDIT1, EDIT2, EDIT3).

The lock consists of `lock_holder`, `lock_expires_at` and `revision`. Whoever acquires the lock raises the revision, so that the
former holder, or another tab of the same person, can write no more. `chats/services/locking.py` gives the order of locks.
"""

from datetime import timedelta
from uuid import UUID

from django.db import connection, transaction

from actors.models import Actor
from agents.hooks import draft_unlocked, lock_lost
from agents.models import Draft, DraftSnapshot, LockWaiter
from agents.permissions import AgentVerb, get_agent_for, get_production, list_people_who_may
from agents.selectors import build_no_draft_error, find_draft
from agents.services.specs import check_content
from agents.specs.content import SpecContent
from chats import services as chats
from chats.models import Chat, ChatActor
from chats.permissions import ChatVerb, get_chat_for
from chats.selectors import load_titles
from common.clock import now
from common.errors import Code, Conflict, NotFound
from common.writing import RowUpdate
from events import audit
from events.publish import publish_workspace_list_changed
from events.rows import SnapshotReason

LOCK_DURATION = timedelta(minutes=30)
"""The time after the last change of the content at which the edit lock expires."""


@transaction.atomic
def claim_draft(actor: Actor, chat_id: UUID, agent_id: UUID, *, content: SpecContent | None = None) -> Draft:
    """Acquire the edit lock of the current draft if it is free, expired or the actor's own, or start a draft if there is none.

    `content` replaces the content of the draft. Raises `NotFound`, `Forbidden`, `Invalid` and `Conflict`: `draft_locked`, with the
    holder in its data, or `other_draft_locked`, with the other draft that the actor edits.
    """
    chat, agent = lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    if content is not None:
        check_content(content, agent=agent)
    check_holds_no_other_lock(actor, chat_id, agent_id)
    draft = find_draft(chat.id, agent.id, lock=True)
    is_renewal = draft is not None and draft.is_locked and draft.lock_holder_id == actor.id
    if not is_renewal:
        publish_locks_changed(chat)
    if draft is None:
        return _start_draft(chat, agent, actor, content)

    if draft.lock_holder_id != actor.id and draft.is_locked:
        raise build_locked_error(draft)
    update = RowUpdate(draft)
    changes: list[chats.RowChange] = [update]
    if not draft.is_locked:
        restart_waitlist(update, actor)
    if draft.lock_holder_id != actor.id:
        changes.insert(0, chats.build_system_message(draft.chat_id, "LOCK_ACQUIRED", actor=actor, target=agent))
        call_lock_lost(draft, actor)
    if draft.updated_by_id != actor.id:
        save_snapshot(draft, SnapshotReason.TAKEOVER)
    update.set(lock_holder=actor, lock_expires_at=now() + LOCK_DURATION, revision=draft.revision + 1)
    if content is not None:
        update.set(written=content.as_json(), updated_by=actor, updated_at=now())
    chats.save_changes(draft.chat_id, changes)
    audit.record(actor, "draft.claimed", workspace_id=chat.workspace_id, object_id=draft.id)
    return draft


def _start_draft(chat: Chat, agent: Actor, actor: Actor, content: SpecContent | None) -> Draft:
    production = get_production(agent)
    draft = Draft(
        chat=chat,
        agent=agent,
        written=(content or production.parse_content()).as_json(),
        base_version=production.version,
        lock_holder=actor,
        lock_expires_at=now() + LOCK_DURATION,
        created_by=actor,
        updated_by=actor,
    )
    chats.save_changes(
        chat.id, [chats.build_system_message(chat.id, "DRAFT_STARTED", actor=actor, target=agent), draft]
    )
    audit.record(actor, "draft.started", workspace_id=chat.workspace_id, object_id=draft.id)
    return draft


# --- fetch, check and lock ----------------------------------------------------------------------------------------


def lock_chat_with_agent(actor: Actor, chat_id: UUID, agent_id: UUID, verb: AgentVerb) -> tuple[Chat, Actor]:
    """Lock the chat, and return it with the agent if actor and agent take part in it and the actor has this right on the agent.

    Raises `NotFound`, `Forbidden`.
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE, lock=True)
    agent = get_agent_for(actor, agent_id, verb)
    if not ChatActor.objects.filter(chat=chat, actor=agent, ended_at=None).exists():
        raise NotFound("This agent is not in this chat.")
    return chat, agent


def lock_draft_of_holder(actor: Actor, chat: Chat, agent: Actor, *, revision: int) -> Draft:
    """Lock the row of the current draft, and return it if the actor holds its edit lock and `revision` is its latest revision.

    The caller has locked the chat. Raises `NotFound`, `Conflict`.
    """
    draft = find_draft(chat.id, agent.id, lock=True)
    if draft is None or draft.lock_holder_id != actor.id or not draft.is_locked or draft.revision != revision:
        raise build_write_error(draft, actor)
    return draft


def check_holds_no_other_lock(actor: Actor, chat_id: UUID, agent_id: UUID) -> None:
    """Raise `Conflict` (`other_draft_locked`) if the actor holds the lock of another draft, in any chat.

    An advisory lock on the person serializes the checks of requests from two of their tabs.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [f"holds:{actor.id}"])
    locked = Draft.objects.filter(lock_holder=actor, lock_expires_at__gt=now(), ended_at=None).select_related(
        "agent", "chat"
    )
    other = locked.exclude(chat_id=chat_id, agent_id=agent_id).first()
    if other is not None:
        load_titles(actor, [other.chat])
        # Only `data` names the other draft, not the text of the error.
        raise Conflict(
            "You are editing another draft.",
            code=Code.OTHER_DRAFT_LOCKED,
            hints=["Save, discard or close that draft first."],
            data={
                "chat_id": str(other.chat_id),
                "agent_id": str(other.agent_id),
                "agent_name": other.agent.name,
                "chat_title": other.chat.shown_title,
                "revision": other.revision,
            },
        )


def build_locked_error(draft: Draft) -> Conflict:
    """Build the error for a draft that another person is editing."""
    holder, lock_expires_at = draft.lock_holder, draft.lock_expires_at
    if holder is None or lock_expires_at is None:
        raise ValueError("The draft has no lock.")
    return Conflict(
        f"{holder.name} is editing this draft.",
        code=Code.DRAFT_LOCKED,
        hints=["You can read it. You can edit it when they have finished, or 30 minutes after their last change."],
        data={
            "lock_holder_id": str(holder.id),
            "lock_holder_name": holder.name,
            "lock_expires_at": lock_expires_at.isoformat(),
        },
    )


def build_write_error(draft: Draft | None, actor: Actor) -> NotFound | Conflict:
    """Build the error for a write that found no draft with the actor's lock and revision (EDIT2)."""
    if draft is None:
        return build_no_draft_error()
    if draft.lock_holder_id != actor.id and draft.is_locked:
        return build_locked_error(draft)
    return Conflict(
        "Your lock of this draft has ended, or the draft was changed in another tab.",
        code=Code.STALE_REVISION,
        hints=["Your text was not stored. Keep it, edit the draft again, and insert it."],
        data={"draft": draft.to_row().model_dump(mode="json")},
    )


# --- when the holder of the lock changes -----------------------------------------------------


def save_snapshot(draft: Draft, reason: SnapshotReason) -> None:
    """Save the draft's content as a snapshot before other content replaces it.

    The caller has locked the row of the draft, and raises its revision afterwards. Content that equals production or an earlier
    snapshot is not saved again.
    """
    content, production = draft.parse_content(), draft.agent.current_spec
    is_production = production is not None and production.parse_content() == content
    if not is_production and all(snapshot.parse_content() != content for snapshot in draft.snapshots.all()):
        DraftSnapshot.objects.create(
            draft=draft, revision=draft.revision, written=draft.written, author=draft.updated_by, reason=reason
        )


def restart_waitlist(update: RowUpdate[Draft], holder: Actor) -> None:
    """Remove the new holder of the lock from the waitlist. The others stay in it and may request the draft again."""
    draft = update.set(requested_by=[]).row
    LockWaiter.objects.filter(draft=draft, person=holder).delete()
    LockWaiter.objects.filter(draft=draft).update(requested_at=None)


def release_lock(update: RowUpdate[Draft], actor: Actor) -> RowUpdate[Draft]:
    """Release the edit lock of the draft that is updated, notify its waiters, and return the update."""
    draft = update.row
    if draft.is_locked:
        publish_locks_changed(draft.chat)
    update.set(lock_holder=None, lock_expires_at=None, requested_by=[])
    notify_lock_waiters(draft, actor)
    return update


def notify_lock_waiters(draft: Draft, actor: Actor | None) -> None:
    """Empty the waitlist, and notify those on it who want a notice and may still edit the draft: the lock is free.

    `actor` released the lock, and is None if it expired.
    """
    waiters = list(LockWaiter.objects.filter(draft=draft))
    if not waiters:
        return
    LockWaiter.objects.filter(draft=draft).delete()
    waiting = [waiter.person_id for waiter in waiters if waiter.wants_notice]
    participants = ChatActor.objects.filter(chat=draft.chat_id, ended_at=None).values("actor")
    editors = list_people_who_may(draft.agent, AgentVerb.EDIT_DRAFT).filter(pk__in=waiting).filter(pk__in=participants)
    draft_unlocked.call(draft, actor, list(editors.values_list("pk", flat=True)))


def call_lock_lost(draft: Draft, actor: Actor) -> None:
    """Call the hook `lock_lost` if the holder loses the lock to another actor. Call this before the holder changes."""
    if draft.lock_holder is not None and draft.lock_holder_id != actor.id:
        lock_lost.call(draft, draft.lock_holder, actor)


def publish_locks_changed(chat: Chat) -> None:
    """Publish to the members of the chat's workspace, on commit, that the list of locked drafts changed."""
    publish_workspace_list_changed(chat.workspace_id, "drafts")
