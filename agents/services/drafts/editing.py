"""Write the content of a draft, merge production into it, replace it, and apply it in its chat."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F

from actors.models import Actor
from agents.hooks import draft_applying
from agents.models import AgentSpec, Draft
from agents.permissions import AgentVerb, check_all_may, compute_agent_verbs, get_agent_for, get_production
from agents.selectors import find_draft
from agents.services.allowed_tools import list_changed_writing_tools
from agents.services.drafts import locking
from agents.services.specs import check_content
from agents.services.stored_specs import write_spec
from agents.specs.content import SpecContent
from agents.specs.differences import count_changed_lines, diff, list_changed_parts
from agents.specs.merging import Contribution, attribute_lines, merge_contributions
from chats import services as chats
from chats.models import Message
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Code, Conflict, Forbidden
from common.writing import RowUpdate
from events import audit
from events.frames import DraftText
from events.publish import publish
from events.rows import Contributor, Provenance, Segment, SnapshotReason, SpecOrigin
from tools.selectors import get_tools


@transaction.atomic
def write_draft(
    actor: Actor, chat_id: UUID, agent_id: UUID, *, content: SpecContent, revision: int, caret: int | None = None
) -> Draft:
    """Save the content that the holder of the lock wrote, renew the lock, and publish the content to the chat.

    The write is one fenced UPDATE and does not lock the chat. `caret`, which is published with the content, counts UTF-16 units,
    as browsers do, and is limited to the length of the prompt.

    Raises `NotFound`, `Forbidden`, `Invalid`, and `Conflict`: `stale_revision`, with the stored draft in its data, `draft_locked`.
    """
    get_chat_for(actor, chat_id, ChatVerb.SEE)
    check_content(content, agent=get_agent_for(actor, agent_id, AgentVerb.EDIT_DRAFT))
    lock_expires_at = now() + locking.LOCK_DURATION
    own_draft = Draft.objects.filter(
        chat_id=chat_id, agent_id=agent_id, ended_at=None, lock_holder=actor, lock_expires_at__gt=now()
    )
    updated = own_draft.filter(revision=revision).update(
        written=content.as_json(),
        revision=F("revision") + 1,
        lock_expires_at=lock_expires_at,
        updated_by=actor,
        updated_at=now(),
    )
    draft = find_draft(chat_id, agent_id)
    if not updated or draft is None:
        raise locking.build_write_error(draft, actor)
    if caret is not None:
        caret = max(0, min(caret, len(content.prompt.encode("utf-16-le", "surrogatepass")) // 2))
    publish(
        DraftText(
            topic=f"chat:{chat_id}",
            draft_id=draft.id,
            agent_id=agent_id,
            revision=revision + 1,
            lock_holder_id=actor.id,
            lock_expires_at=lock_expires_at,
            written=content.as_json(),
            caret=caret,
        )
    )
    return draft


@transaction.atomic
def rebase_draft(
    actor: Actor, chat_id: UUID, agent_id: UUID, *, revision: int, merge_production: bool = False
) -> Draft:
    """Set the draft's base to the current production. With `merge_production`, also merge production's changes into the content.

    Raises `NotFound`, `Forbidden`, `Conflict`, and `TooLarge` if the merged prompt is longer than a spec may be.
    """
    chat, agent = locking.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    draft = locking.lock_draft_of_holder(actor, chat, agent, revision=revision)
    production = get_production(agent)
    update = RowUpdate(draft)
    if merge_production and draft.base_version != production.number:
        _merge_production(update, production, actor)
    update.set(base_version=production.number, revision=revision + 1, lock_expires_at=now() + locking.LOCK_DURATION)
    chats.save_changes(chat.id, [update])
    audit.record(actor, "draft.rebased", workspace_id=chat.workspace_id, object_id=draft.id, base=production.number)
    return draft


def _merge_production(update: RowUpdate[Draft], production: AgentSpec, actor: Actor) -> None:
    """Merge production's changes since the draft's base into its content. Every line keeps its contributors."""
    draft = update.row
    base = AgentSpec.objects.get(agent_id=draft.agent_id, number=draft.base_version).parse_content()
    contributors, segments = attribute_draft(draft, base)
    contribution = Contribution(contributors[-1], base, draft.parse_content(), segments)
    result = merge_contributions(production.parse_content(), [contribution])
    if result.content == draft.parse_content():
        return
    locking.save_snapshot(draft, SnapshotReason.REBASE)
    provenance = Provenance(
        origin="rebase", contributors=contributors, segments=result.segments, conflicts=result.conflicts
    )
    update.set(
        written=result.content.as_json(),
        updated_by=actor,
        updated_at=now(),
        provenance=provenance.model_dump(mode="json"),
    )


@transaction.atomic
def apply_draft(actor: Actor, chat_id: UUID, agent_id: UUID, *, revision: int) -> Draft:
    """Apply the draft: the agent answers with it in this chat, and only there. The lock is kept and not renewed.

    Applying a revision twice has no effect. Raises `NotFound`, `Conflict`, `Forbidden` for a tool that the actor may not add, and
    what a listener of `draft_applying` raises.
    """
    # Comparing two long prompts takes time, so it is done before the chat is locked.
    changes = _describe_changes(actor, chat_id, agent_id, revision=revision)
    chat, agent = locking.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    draft = locking.lock_draft_of_holder(actor, chat, agent, revision=revision)
    if draft.applied_revision == revision:
        return draft
    content = draft.parse_content()
    _check_changes_no_writing_tool(agent, content)
    draft_applying.call(actor, chat, agent, content)
    before_id = draft.applied_id or agent.current_spec_id
    spec = write_spec(agent, content, author=actor, origin=SpecOrigin.APPLIED, base_version=draft.base_version)
    count = draft.apply_count + 1
    update = RowUpdate(draft).set(applied=spec, apply_count=count, applied_revision=revision)
    message = chats.build_system_message(
        chat.id,
        "DRAFT_APPLIED",
        actor=actor,
        target=agent,
        draft_apply=count,
        spec_id=spec.id,
        before_id=before_id,
        **changes.get(before_id, {}),
    )
    chats.save_changes(chat.id, [message, update])
    audit.record(actor, "draft.applied", workspace_id=chat.workspace_id, object_id=draft.id, apply=count)
    return draft


def _describe_changes(
    actor: Actor, chat_id: UUID, agent_id: UUID, *, revision: int
) -> dict[UUID | None, dict[str, Any]]:
    """Return the payload fields that describe what the draft changes, by the id of the spec that now answers in the chat.

    Empty if the draft is at another revision. Raises `NotFound`, `Forbidden`.
    """
    get_chat_for(actor, chat_id, ChatVerb.SEE)
    agent = get_agent_for(actor, agent_id, AgentVerb.EDIT_DRAFT)
    draft = find_draft(chat_id, agent_id)
    if draft is None or draft.revision != revision:
        return {}
    before = draft.applied or get_production(agent)
    old, new = before.parse_content(), draft.parse_content()
    return {before.id: {"lines_changed": count_changed_lines(diff(old, new)), "touches": list_changed_parts(old, new)}}


def _check_changes_no_writing_tool(agent: Actor, content: SpecContent) -> None:
    """Raise `Forbidden` if the content adds a tool that writes, or changes its settings, and the actor may not save the agent.

    The actor is the one for whom `agent` was fetched (`compute_agent_verbs`).
    """
    if AgentVerb.SAVE in compute_agent_verbs(agent):
        return
    tools = get_tools(agent.workspace_id, content.tool_names)
    added = list_changed_writing_tools(get_production(agent).parse_content(), content, tools)
    if added:
        raise Forbidden(
            f"Only an editor can give this agent a tool that writes, or change its settings: {', '.join(added)}.",
            hints=["Leave the tool as it is in production, or suggest the change."],
        )


# --- content that a person did not type -----------------------------------------------------------------------------------


@transaction.atomic
def replace_draft(
    actor: Actor,
    chat_id: UUID,
    agent_id: UUID,
    *,
    content: SpecContent,
    base: AgentSpec,
    provenance: Provenance,
    system_message: Message,
    lock: bool,
    changes: Sequence[chats.RowChange] = (),
    author: Actor | None = None,
) -> Draft:
    """Replace the content of the chat's draft by one that is based on version `base`, or start a draft with it. Apply nothing.

    With `lock`, the actor holds the edit lock afterwards; otherwise it is free. `author` wrote the content if the actor did not.
    `system_message` and `changes` are saved with the draft. The replaced content is saved as a snapshot.

    Raises `NotFound`, `Forbidden`, `Invalid`, and `Conflict`: `draft_locked` (with `lock`, only by another person),
    `other_draft_locked` (with `lock`).
    """
    chat, agent = locking.lock_chat_with_agent(actor, chat_id, agent_id, AgentVerb.EDIT_DRAFT)
    check_content(content, agent=agent)
    if lock:
        locking.check_holds_no_other_lock(actor, chat_id, agent_id)
    draft = find_draft(chat.id, agent.id, lock=True)
    if draft is None:
        draft = Draft(chat=chat, agent=agent, created_by=author or actor)
        update = RowUpdate(draft)
    else:
        reason = SnapshotReason(provenance.origin)
        update = _prepare_replacement(draft, actor, content=content, lock=lock, reason=reason)

    if lock:
        locking.publish_locks_changed(chat)
        update.set(lock_holder=actor, lock_expires_at=now() + locking.LOCK_DURATION)
    else:
        update.set(lock_holder=None, lock_expires_at=None, requested_by=[])
    update.set(
        written=content.as_json(),
        provenance=provenance.model_dump(mode="json"),
        base_version=base.number,
        updated_by=author or actor,
        updated_at=now(),
    )
    chats.save_changes(chat.id, [system_message, draft if draft._state.adding else update, *changes])
    audit.record(
        author or actor,
        "draft.replaced",
        on_behalf_of=actor if author else None,
        workspace_id=chat.workspace_id,
        object_id=draft.id,
        origin=provenance.origin,
    )
    return draft


def _prepare_replacement(
    draft: Draft, actor: Actor, *, content: SpecContent, lock: bool, reason: SnapshotReason
) -> RowUpdate[Draft]:
    """Prepare a draft for other content: save a snapshot of its content, and notify the people whom a change of its lock concerns.

    Return an update that raises the revision. Raises `Conflict` (`draft_locked`).
    """
    update = RowUpdate(draft)
    if draft.is_locked and not (lock and draft.lock_holder_id == actor.id):
        raise locking.build_locked_error(draft)
    if not draft.is_locked:
        # A lock that has expired keeps its holder and its waiters until somebody writes, or the sweeper notifies them.
        if lock:
            locking.restart_waitlist(update, actor)
        else:
            locking.notify_lock_waiters(draft, actor)
    locking.call_lock_lost(draft, actor)
    if draft.parse_content() != content:
        locking.save_snapshot(draft, reason)
    return update.set(revision=draft.revision + 1)


@transaction.atomic
def revise_prompt(
    actor: Actor, chat_id: UUID, *, on_behalf_of: Actor, approved_by: Actor | None = None, prompt: str, reason: str
) -> Draft:
    """Write a new prompt, by the agent `actor` for itself, into its draft in the chat. The draft is neither locked nor applied.

    The prompt replaces that of the draft, or that of production if there is no draft. `on_behalf_of`, and `approved_by` if a
    person has approved the call, need the right to save the agent (FAIR8).

    Raises `NotFound`, `Forbidden`, and `Conflict` (`draft_locked`, `nothing_changed`).
    """
    chat, agent = locking.lock_chat_with_agent(on_behalf_of, chat_id, actor.id, AgentVerb.SAVE)
    if approved_by is not None:
        check_all_may([approved_by], agent, AgentVerb.SAVE)
    draft = find_draft(chat.id, agent.id, lock=True)
    if draft is not None and draft.is_locked:
        raise locking.build_locked_error(draft)

    if draft is None:
        base = get_production(agent)
        written = base.parse_content()
        contributors: list[Contributor] = []
        segments = [Segment(text=written.prompt)]
    else:
        base = AgentSpec.objects.get(agent=agent, number=draft.base_version)
        written = draft.parse_content()
        contributors, segments = attribute_draft(draft, base.parse_content())
    if written.prompt == prompt:
        raise Conflict("The prompt says this already.", code=Code.NOTHING_CHANGED)

    contributor = Contributor(id=agent.id, actor_id=agent.id, name=agent.name, in_run_of=on_behalf_of.name)
    provenance = Provenance(
        origin="revise",
        contributors=[*(earlier for earlier in contributors if earlier.id != contributor.id), contributor],
        segments=attribute_lines(segments, [(contributor.id, prompt)]),
    )
    message = chats.build_system_message(
        chat.id, "DRAFT_STARTED", actor=on_behalf_of, target=agent, via=agent.name, note=reason
    )
    return replace_draft(
        on_behalf_of,
        chat.id,
        agent.id,
        content=SpecContent.model_validate(written.model_dump() | {"prompt": prompt}),
        base=base,
        provenance=provenance,
        system_message=message,
        lock=False,
        author=agent,
    )


def attribute_draft(draft: Draft, base: SpecContent) -> tuple[list[Contributor], list[Segment]]:
    """Return the contributors of a draft that is based on `base`, with its last writer last, and its prompt as segments.

    Segments of a merge keep their contributors. What was written since then is attributed to the last writer.
    """
    contributors: list[Contributor] = []
    segments = [Segment(text=base.prompt)]
    if draft.provenance:
        provenance = Provenance.model_validate(draft.provenance)
        contributors, segments = provenance.contributors, provenance.segments

    writer = next((contributor for contributor in contributors if contributor.id == draft.updated_by_id), None)
    if writer is None:
        writer = Contributor(id=draft.updated_by_id, actor_id=draft.updated_by_id, name=draft.updated_by.name)
    others = [contributor for contributor in contributors if contributor.id != writer.id]
    return [*others, writer], attribute_lines(segments, [(writer.id, draft.parse_content().prompt)])
