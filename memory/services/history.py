"""The history of agents over all their chats: an entry for each run, and clearing it."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import OuterRef, Subquery

from actors.models import Actor
from agents.permissions import AgentVerb, get_agent_for
from chats.models import Chat
from chats.services.text_sources import classify_texts_of_others
from common.clock import now
from common.errors import Conflict
from common.writing import insert
from events import audit
from events.publish import publish_workspace_list_changed
from llm.tokens import estimate_tokens
from memory.history import format_turns, read_history_turns
from memory.models import UNDO_HOURS, HistoryEntry, MemoryClearing, MemoryUse
from memory.permissions import get_clearing_for, history_visible_to
from memory.selectors import FULL_CHARACTERS, get_generation

MAX_SEQS = 500
"""The most numbers (`seq`) of messages from `first_seq` to `last_seq` of an entry. If the run has read more, the newest count."""


def record_history_entry(
    agent: Actor,
    chat: Chat,
    *,
    run_id: UUID,
    person_id: UUID | None,
    first_seq: int,
    last_seq: int,
    outcome: str,
    has_outside_texts: bool = False,
) -> None:
    """Store what a run that ends has read, from `first_seq` to `last_seq`, and did. The caller has locked the chat, and calls this
    in the transaction that ends the run.

    If the history was cleared after the run had read it, the entry is among the cleared ones: no run uses it.
    """
    texts_of_others = classify_texts_of_others(
        chat.pk, agent_id=agent.pk, workspace_id=chat.workspace_id, person_id=person_id
    )
    use = MemoryUse.objects.filter(run_id=run_id).only("generation").first()
    generation = use.generation if use is not None else get_generation(agent.pk)
    cleared = MemoryClearing.objects.filter(agent=agent, generation__gt=generation, undone_at=None)
    entry = HistoryEntry(
        workspace_id=chat.workspace_id,
        agent=agent,
        chat=chat,
        run_id=run_id,
        on_behalf_of_id=person_id,
        first_seq=max(first_seq, last_seq - MAX_SEQS),
        last_seq=last_seq,
        outcome=outcome,
        read_texts="outside" if has_outside_texts else texts_of_others or "",
        generation=generation,
        clearing=cleared.order_by("-generation").first(),
    )
    turns = read_history_turns([entry])[entry.id]
    entry.tokens = estimate_tokens("\n".join(format_turns(turns, FULL_CHARACTERS)))
    insert([entry], ignore_conflicts=True)


@transaction.atomic
def clear_history(actor: Actor, agent_id: UUID) -> MemoryClearing:
    """Clear the history of an agent, as far as the actor may read its chats: no run that begins later uses these entries. The
    clearing can be undone for `UNDO_HOURS`. Notes stay. Raises `NotFound`, `Forbidden`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.EDIT_MEMORY, lock=True)
    if agent.workspace_id is None:
        raise TypeError("A public agent has no history over its chats.")
    clearing = MemoryClearing.objects.create(
        workspace_id=agent.workspace_id,
        agent=agent,
        generation=get_generation(agent.pk) + 1,
        cleared_by=actor,
        cleared_at=now(),
    )
    clearing.count = history_visible_to(actor, agent).update(clearing=clearing)
    clearing.save(update_fields=["count"])
    _publish(actor, "memory.cleared", clearing)
    return clearing


@transaction.atomic
def undo_clearing(actor: Actor, clearing_id: UUID) -> MemoryClearing:
    """Let runs use the cleared entries again. Raises `NotFound`, `Forbidden`, and `Conflict` if it was undone already, or if it
    is too late."""
    clearing = get_clearing_for(actor, clearing_id, lock=True)
    if clearing.undo_until is None:
        raise Conflict("This clearing cannot be undone any more.", hints=[f"It can be undone for {UNDO_HOURS} hours."])
    clearing.undone_at = now()
    clearing.save(update_fields=["undone_at"])
    # An entry may have been cleared by an earlier clearing, too.
    others = MemoryClearing.objects.filter(
        agent=clearing.agent_id, generation__gt=OuterRef("generation"), undone_at=None
    )
    clearing.entries.update(clearing=Subquery(others.order_by("-generation").values("pk")[:1]))
    _publish(actor, "memory.clearing_undone", clearing)
    return clearing


def _publish(actor: Actor, action: str, clearing: MemoryClearing) -> None:
    audit.record(
        actor, action, workspace_id=clearing.workspace_id, object_id=clearing.agent_id, generation=clearing.generation
    )
    publish_workspace_list_changed(clearing.workspace_id, "memory")


def delete_cleared() -> int:
    """Delete the entries whose clearing can no longer be undone. Return how many. Called by the sweeper."""
    before = now() - timedelta(hours=UNDO_HOURS)
    return HistoryEntry.objects.filter(clearing__undone_at=None, clearing__cleared_at__lt=before).delete()[0]
