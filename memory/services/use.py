"""Read the memory of an agent for a run, and store what the run used."""

from dataclasses import replace
from uuid import UUID

from django.db import transaction

from actors.models import Actor
from chats.models import Chat
from common.clock import now
from events.payloads import ContextStrategy, MemoryScope
from memory.models import MemoryUse, Note
from memory.selectors import ReadMemory, read_memory


@transaction.atomic
def use_memory(
    agent: Actor,
    chat: Chat,
    *,
    person: Actor | None,
    run_id: UUID,
    memory_scope: MemoryScope,
    request: str,
    model_size: int,
    strategy: ContextStrategy = "truncate",
) -> ReadMemory:
    """Return what a run of the agent in this chat reads of the agent's memory, and store what it used and what was withheld.
    With the scope `chat` and without notes, nothing is stored, unless an earlier attempt of the run has stored something.

    A later attempt of the run reads the memory again, and replaces what was stored. If the earlier attempt had used something that
    this one does not use, the run counts as having read texts of others, because the texts of that attempt may repeat it. See
    `read_memory`. A public agent remembers each chat by itself, and keeps no notes.
    """
    if agent.is_public:
        return ReadMemory()
    memory = read_memory(
        agent, chat, person=person, memory_scope=memory_scope, request=request, model_size=model_size, strategy=strategy
    )
    used_before = MemoryUse.objects.filter(run_id=run_id).values_list("note_ids", "entry_ids").first()
    if memory_scope == "chat" and not memory.notes and used_before is None:
        return memory
    note_ids, entry_ids = [note.pk for note in memory.notes], [entry.pk for entry in memory.entries]
    MemoryUse.objects.update_or_create(
        run_id=run_id,
        defaults={
            "workspace_id": chat.workspace_id,
            "agent": agent,
            "chat": chat,
            "generation": memory.generation,
            "note_ids": note_ids,
            "entry_ids": entry_ids,
            "withheld": [withheld.as_json() for withheld in memory.withheld],
            "tokens": memory.tokens,
        },
    )
    if used_before is not None and (set(used_before[0]) - set(note_ids) or set(used_before[1]) - set(entry_ids)):
        memory = replace(memory, has_texts_of_others=True)
    if memory.notes:
        # In the order of their ids, because two runs may use the same notes.
        locked = Note.objects.filter(pk__in=[note.pk for note in memory.notes]).order_by("pk")
        ids = list(locked.select_for_update(no_key=True).values_list("pk", flat=True))
        Note.objects.filter(pk__in=ids).update(last_used_at=now())
    return memory
