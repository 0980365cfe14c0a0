"""Rights to the memory of agents. Members read what comes from chats that they may read; editors change it."""

from uuid import UUID

from django.db.models import Q, QuerySet

from actors.models import Actor
from agents.permissions import AgentVerb, get_agent_for
from chats.permissions import list_readable_chats
from common.access import replace_not_found
from common.errors import NotFound
from events.rows import NoteScope
from memory.models import HistoryEntry, MemoryClearing, Note


def notes_visible_to(actor: Actor, agent: Actor) -> QuerySet[Note]:
    """Return the notes of an agent that were learnt in chats that the actor may read, and those for the whole workspace. The
    caller has checked that the actor may see the agent's memory."""
    is_readable = Q(chat__in=list_readable_chats(actor).values("pk")) | Q(scope=NoteScope.WORKSPACE)
    return Note.objects.filter(is_readable, agent=agent)


def history_visible_to(actor: Actor, agent: Actor) -> QuerySet[HistoryEntry]:
    """Return the history entries of an agent that are not cleared and are from chats that the actor may read. The caller has
    checked that the actor may see the agent's memory."""
    return HistoryEntry.objects.filter(agent=agent, clearing=None, chat__in=list_readable_chats(actor).values("pk"))


def get_note_for(actor: Actor, note_id: UUID, verb: AgentVerb, *, lock: bool = False) -> Note:
    """Return the note if the actor may do this with the memory of its agent, and may read the note. `lock`: lock the note. Raises
    `NotFound`, `Forbidden`."""
    with replace_not_found("note"):
        found = Note.objects.filter(pk=note_id).select_related("agent").first()
        if found is None:
            raise NotFound("There is no such note.")
        agent = get_agent_for(actor, found.agent_id, AgentVerb.SEE_MEMORY)
        visible = notes_visible_to(actor, agent).filter(pk=note_id)
        note = visible.select_for_update(of=("self",), no_key=True).first() if lock else visible.first()
        if note is None:
            raise NotFound("There is no such note.")
    note.agent = get_agent_for(actor, note.agent_id, verb)
    return note


def get_clearing_for(actor: Actor, clearing_id: UUID, *, lock: bool = False) -> MemoryClearing:
    """Return the clearing if the actor may change the memory of its agent. `lock`: lock it. Raises `NotFound`, `Forbidden`."""
    with replace_not_found("clearing"):
        found = MemoryClearing.objects.filter(pk=clearing_id).first()
        if found is None:
            raise NotFound("There is no such clearing.")
        get_agent_for(actor, found.agent_id, AgentVerb.SEE_MEMORY)
    get_agent_for(actor, found.agent_id, AgentVerb.EDIT_MEMORY)
    rows = MemoryClearing.objects.select_related("cleared_by")
    return rows.select_for_update(of=("self",), no_key=True).get(pk=clearing_id) if lock else rows.get(pk=clearing_id)
