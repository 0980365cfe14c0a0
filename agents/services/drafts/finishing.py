"""End a draft by saving, suggesting or discarding it, or only release its lock."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext

from actors.models import Actor
from agents.hooks import draft_ended, draft_saving
from agents.models import AgentSpec, Draft
from agents.permissions import AgentVerb, compute_agent_verbs, get_agent_for, get_production
from agents.selectors import build_no_draft_error, find_draft
from agents.services.drafts import locking
from agents.services.drafts.editing import attribute_draft
from agents.services.specs import check_content
from agents.services.stored_specs import write_spec
from chats import services as chats
from chats.models import Message
from common.clock import now
from common.errors import Code, Conflict, Forbidden
from common.operators import check_operator
from common.writing import RowUpdate
from events import audit
from events.publish import publish_workspace_list_changed
from events.rows import DraftOutcome, SpecOrigin


@transaction.atomic
def save_draft(
    actor: Actor,
    chat_id: UUID,
    agent_id: UUID,
    *,
    revision: int,
    base_version: int,
    message: str = "",
    unused_suggestions: Collection[UUID] = (),
) -> AgentSpec:
    """Save the draft as the next version of the agent, and end the draft.

    `unused_suggestions`: the suggestions that were merged into the draft and that the actor knows are not used in it. Raises
    `NotFound`, `Forbidden`, `Invalid` and `Conflict`: those of `write_draft`; `stale_base` (its data has the current production) if
    production, or the base of the draft, is not at `base_version`; `suggestions_unused` if further suggestions are not used.
    """
    chat, agent = locking.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.SAVE)
    draft = locking.lock_draft_of_holder(actor, chat, agent, revision=revision)
    agent = get_agent_for(actor, agent_id, AgentVerb.SAVE, lock=True)
    production = get_production(agent)
    if base_version != draft.base_version or base_version != production.version:
        raise Conflict(
            f"{agent.name} is at v{production.version} now; this draft is based on v{draft.base_version}.",
            code=Code.STALE_BASE,
            hints=["Compare with the current production, then save on top of it."],
            data={"production": production.to_row().model_dump(mode="json")},
        )
    content = draft.parse_content()
    check_content(content, agent=agent)
    draft_saving.call(draft, content, unused_suggestions)

    spec = write_spec(
        agent,
        content,
        author=actor,
        origin=SpecOrigin.DRAFT,
        number=production.version + 1,
        message=message,
        base_version=base_version,
    )
    agent.current_spec = spec
    agent.save(update_fields=["current_spec"])
    system_message = chats.build_system_message(
        chat.id, "SPEC_SAVED", actor=actor, target=agent, version=spec.number, note=spec.message
    )
    chats.save_changes(chat.id, [system_message, *finish_draft(draft, actor, DraftOutcome.SAVED, spec)])
    audit.record(actor, "spec.saved", workspace_id=chat.workspace_id, object_id=agent.id, version=spec.number)
    if agent.workspace_id:
        publish_workspace_list_changed(agent.workspace_id, "agents")
    return spec


@transaction.atomic
def end_suggested_draft(
    actor: Actor, chat_id: UUID, agent_id: UUID, *, revision: int, system_message: Message
) -> Draft:
    """End a draft whose content becomes a suggestion, and return it. `system_message` is saved with it.

    Raises `NotFound`, `Forbidden`, `Conflict`.
    """
    chat, agent = locking.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.SUGGEST)
    draft = locking.lock_draft_of_holder(actor, chat, agent, revision=revision)
    chats.save_changes(chat.id, [system_message, *finish_draft(draft, actor, DraftOutcome.SUGGESTED)])
    audit.record(actor, "draft.suggested", workspace_id=chat.workspace_id, object_id=draft.id)
    return draft


@transaction.atomic
def discard_draft(actor: Actor, chat_id: UUID, agent_id: UUID, *, revision: int) -> Draft:
    """Discard a draft that the actor started, or any draft if the actor is an editor. Production answers in the chat again.

    Raises `NotFound`, `Forbidden` for a draft that another person started, `Conflict` (`draft_locked`, `stale_revision`).
    """
    chat, agent = locking.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    draft = find_draft(chat.id, agent.id, lock=True)
    if draft is None:
        raise build_no_draft_error()
    if AgentVerb.DISCARD_ANY not in compute_agent_verbs(agent):
        if draft.lock_holder_id != actor.id and draft.is_locked:
            raise locking.build_locked_error(draft)
        if draft.created_by_id != actor.id:
            raise Forbidden("You can only discard drafts that you started.", hints=["Ask an editor."])
    if draft.revision != revision:
        raise locking.build_write_error(draft, actor)

    locking.call_lock_lost(draft, actor)
    message = chats.build_system_message(
        chat.id,
        "DRAFT_DISCARDED",
        actor=actor,
        target=agent,
        draft_apply=draft.apply_count,
        authors=_list_other_authors(draft, actor),
    )
    chats.save_changes(chat.id, [message, *finish_draft(draft, actor, DraftOutcome.DISCARDED)])
    audit.record(actor, "draft.discarded", workspace_id=chat.workspace_id, object_id=draft.id)
    return draft


def _list_other_authors(draft: Draft, actor: Actor) -> list[str]:
    """Return the names of those whose changes are in the draft, other than the actor."""
    base = AgentSpec.objects.get(agent=draft.agent_id, number=draft.base_version).parse_content()
    if draft.parse_content() == base:
        return []
    contributors, _segments = attribute_draft(draft, base)
    return list(dict.fromkeys(one.name for one in contributors if one.actor_id != actor.id))


@transaction.atomic
def release_draft(actor: Actor, chat_id: UUID, agent_id: UUID, *, revision: int | None = None) -> Draft:
    """Release the edit lock. The content is kept, but a draft that equals production and was never applied is discarded.

    The holder passes the latest `revision`. Without it, the actor must be an operator, who may release any lock: the content is
    kept in any case, and the holder is notified. Raises `NotFound`, `Forbidden`, `Conflict`.
    """
    if revision is not None:
        chat, agent = locking.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
        draft = locking.lock_draft_of_holder(actor, chat, agent, revision=revision)
        if draft.applied_id is None and draft.parse_content() == get_production(agent).parse_content():
            chats.save_changes(chat_id, finish_draft(draft, actor, DraftOutcome.DISCARDED))
            return draft
    else:
        check_operator(actor, Draft)
        chat = chats.lock_chat(chat_id)
        found = find_draft(chat_id, agent_id, lock=True)
        if found is None or found.lock_holder_id is None:
            raise Conflict(gettext("This draft is not locked."), code=Code.DRAFT_NOT_LOCKED)
        draft, agent = found, found.agent
        locking.call_lock_lost(draft, actor)
        audit.record(actor, "draft.released", workspace_id=chat.workspace_id, object_id=draft.id)
    message = chats.build_system_message(chat_id, "LOCK_RELEASED", actor=actor, target=agent)
    chats.save_changes(chat_id, [message, locking.release_lock(RowUpdate(draft), actor)])
    return draft


def finish_draft(
    draft: Draft, actor: Actor, outcome: DraftOutcome, spec: AgentSpec | None = None
) -> list[RowUpdate[Any]]:
    """End the draft: release its lock, and call the hook `draft_ended`.

    Return the updates of the draft and of other rows of its chat. `spec` is the version that the draft was saved as.
    """
    update = RowUpdate(draft).set(ended_at=now(), outcome=outcome)
    return [locking.release_lock(update, actor), *draft_ended.call(draft, actor, spec)]
