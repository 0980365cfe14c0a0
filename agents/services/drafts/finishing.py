"""The end of editing: saved as a version, submitted as a suggestion, discarded, or only unlocked."""

from typing import Any, Literal
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext

from actors.models import Actor
from agents.hooks import draft_ended
from agents.models import AgentSpec, Draft, Origin
from agents.permissions import AgentVerb, agent_verbs, get_agent_for, get_production
from agents.selectors import build_no_draft_error, find_draft
from agents.services.drafts import locking
from agents.services.specs import check_content, write_spec
from agents.specs.content import SpecContent
from chats import services as chats
from chats.models import Message
from common.clock import now
from common.errors import Code, Conflict, Forbidden
from common.operators import check_operator
from common.writing import RowUpdate
from events import audit
from events.publish import notify_workspace_list_changed


@transaction.atomic
def save_draft(
    actor: Actor, chat_id: UUID, agent_id: UUID, *, revision: int, base_version: int, message: str = ""
) -> AgentSpec:
    """Save the text as the next version of the agent, and end the draft.

    Raises `NotFound`, `Forbidden`, `Invalid` and `Conflict`: `stale_revision`, or `stale_base` with today's production if it is
    not `base_version` any more.
    """
    chat, agent = locking.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.SAVE)
    draft = locking.get_draft_held_by(actor, chat, agent, revision=revision)
    agent = get_agent_for(actor, agent_id, AgentVerb.SAVE, lock=True)
    production = get_production(agent)
    if base_version != draft.base_version or base_version != production.version:
        raise Conflict(
            f"{agent.name} is at v{production.version} by now; this draft was begun on v{draft.base_version}.",
            code=Code.STALE_BASE,
            hints=["Compare with today's production, then save on top of it."],
            data={"production": production.to_row().model_dump(mode="json")},
        )
    content = SpecContent.model_validate(draft.written)
    check_content(content)

    spec = write_spec(
        agent,
        content,
        author=actor,
        origin=Origin.DRAFT,
        number=production.version + 1,
        message=message,
        base_number=base_version,
    )
    agent.current_spec = spec
    agent.save(update_fields=["current_spec"])
    log_message = chats.build_system_message(
        chat.id, "SPEC_SAVED", actor=actor, target=agent, version=spec.number, note=spec.message
    )
    chats.save_changes(chat.id, [log_message, *finish_draft(draft, actor, "saved", spec)])
    audit.record(actor, "spec.saved", workspace_id=chat.workspace_id, object_id=agent.id, version=spec.number)
    if agent.workspace_id:
        notify_workspace_list_changed(agent.workspace_id, "agents")
    return spec


@transaction.atomic
def submit_draft(actor: Actor, chat_id: UUID, agent_id: UUID, *, revision: int, log_message: Message) -> Draft:
    """End the draft because its text becomes a suggestion, and return it. `log_message` is saved with it.

    Raises `NotFound`, `Forbidden`, `Conflict`.
    """
    chat, agent = locking.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.SUGGEST)
    draft = locking.get_draft_held_by(actor, chat, agent, revision=revision)
    chats.save_changes(chat.id, [log_message, *finish_draft(draft, actor, "suggested")])
    audit.record(actor, "draft.suggested", workspace_id=chat.workspace_id, object_id=draft.id)
    return draft


@transaction.atomic
def discard_draft(actor: Actor, chat_id: UUID, agent_id: UUID, *, revision: int) -> Draft:
    """Discard the actor's own draft, or any draft if the actor is an editor. Production answers again in the chat.

    Raises `NotFound`, `Forbidden` for a draft that another person started, `Conflict` (`draft_locked`, `stale_revision`).
    """
    chat, agent = locking.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    draft = find_draft(chat.id, agent.id, lock=True)
    if draft is None:
        raise build_no_draft_error()
    if AgentVerb.DISCARD_ANY not in agent_verbs(agent):
        if draft.lock_holder_id != actor.id and draft.is_locked:
            raise locking.build_locked_error(draft)
        if draft.created_by_id != actor.id:
            raise Forbidden("You can discard your own drafts only.", hints=["Ask an editor."])
    if draft.revision != revision:
        raise locking.build_write_error(draft, actor)

    locking.notify_lock_lost(draft, actor)
    message = chats.build_system_message(
        chat.id, "DRAFT_DISCARDED", actor=actor, target=agent, draft_apply=draft.apply_count
    )
    chats.save_changes(chat.id, [message, *finish_draft(draft, actor, "discarded")])
    audit.record(actor, "draft.discarded", workspace_id=chat.workspace_id, object_id=draft.id)
    return draft


@transaction.atomic
def release_draft(actor: Actor, chat_id: UUID, agent_id: UUID, *, revision: int | None = None) -> Draft:
    """Release the edit lock. The text stays, but a draft without a change is discarded.

    The holder gives the latest `revision`. An operator gives none: they may release any lock, the text stays in any case, and
    the holder is notified. Raises `NotFound`, `Forbidden`, `Conflict`.
    """
    if revision is not None:
        chat, agent = locking.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
        draft = locking.get_draft_held_by(actor, chat, agent, revision=revision)
        if draft.applied_id is None and draft.written == get_production(agent).content().as_json():
            chats.save_changes(chat_id, finish_draft(draft, actor, "discarded"))
            return draft
    else:
        check_operator(actor, Draft)
        chats.lock_chat(chat_id)
        found = find_draft(chat_id, agent_id, lock=True)
        if found is None or found.lock_holder_id is None:
            raise Conflict(gettext("Nobody holds this draft."), code=Code.NO_DRAFT)
        draft, agent = found, found.agent
        locking.notify_lock_lost(draft, actor)
        audit.record(actor, "draft.freed", object_id=draft.id)
    message = chats.build_system_message(chat_id, "LOCK_RELEASED", actor=actor, target=agent)
    chats.save_changes(chat_id, [message, locking.release_lock(RowUpdate(draft), actor)])
    return draft


def finish_draft(
    draft: Draft, actor: Actor, how: Literal["saved", "discarded", "suggested"], spec: AgentSpec | None = None
) -> list[RowUpdate[Any]]:
    """End the draft: release its lock, call the hook, and return the updates of it and of other rows of its chat.

    `spec` is the version that the draft was saved as.
    """
    update = RowUpdate(draft).set(ended_at=now(), outcome=how)
    return [locking.release_lock(update, actor), *draft_ended(draft, actor, spec)]
