"""The memory of agents: its state, notes, history, and what a run has used of it."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from agents.permissions import AgentVerb
from chats.selectors import load_titles
from common.paging import PAGE_PARAMETERS, answer_page, get_page, serialize_rows
from common.rest import (
    Page,
    Request,
    build_list_response,
    build_query_parameters,
    build_response,
    read,
    read_query,
)
from events.rows import (
    HistoryEntryRow,
    MemoryClearingRow,
    MemoryRow,
    MemoryUseRow,
    NoteRevisionRow,
    NoteRow,
)
from memory import selectors
from memory import services as memory
from memory.api.bodies import EditNoteBody, ForgetNoteBody, HistoryQuery, NewNoteBody, NotesQuery
from memory.permissions import get_note_for


class Memory(APIView):
    @extend_schema(operation_id="read_memory", responses=MemoryRow)
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Read the state of an agent's memory."""
        return build_response(selectors.get_memory_row(request.user, agent_id))


class Notes(APIView):
    @extend_schema(operation_id="list_notes", parameters=build_query_parameters(NotesQuery), responses=Page[NoteRow])
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """List the notes that an agent remembers."""
        query = read_query(request, NotesQuery)
        notes = selectors.list_notes(request.user, agent_id, query=query.q, chat_id=query.chat_id, which=query.which)
        page, next = get_page(notes, query, by="-created_at")
        load_titles(request.user, [note.chat for note in page if note.chat])
        return build_list_response(serialize_rows(page), next)

    @extend_schema(operation_id="create_note", request=NewNoteBody, responses={201: NoteRow})
    def post(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Write a note for an agent to remember."""
        body = read(request, NewNoteBody)
        return build_response(memory.create_note(request.user, agent_id, **dict(body)).to_row(), 201)


class OneNote(APIView):
    @extend_schema(operation_id="edit_note", request=EditNoteBody, responses=NoteRow)
    def patch(self, request: Request, note_id: UUID) -> HttpResponse:
        """Change a note of an agent."""
        body = read(request, EditNoteBody)
        return build_response(memory.edit_note(request.user, note_id, **dict(body)).to_row())


class ForgetNote(APIView):
    @extend_schema(operation_id="forget_note", request=ForgetNoteBody, responses=NoteRow)
    def post(self, request: Request, note_id: UUID) -> HttpResponse:
        """Forget a note of an agent. It can be restored for some hours."""
        body = read(request, ForgetNoteBody)
        return build_response(memory.forget_note(request.user, note_id, revision=body.revision).to_row())


class RestoreNote(APIView):
    @extend_schema(operation_id="restore_note", request=None, responses=NoteRow)
    def post(self, request: Request, note_id: UUID) -> HttpResponse:
        """Restore a note that was forgotten."""
        return build_response(memory.restore_note(request.user, note_id).to_row())


class NoteRevisions(APIView):
    @extend_schema(operation_id="list_note_revisions", parameters=PAGE_PARAMETERS, responses=Page[NoteRevisionRow])
    def get(self, request: Request, note_id: UUID) -> HttpResponse:
        """List the earlier texts of a note."""
        note = get_note_for(request.user, note_id, AgentVerb.SEE_MEMORY)
        return answer_page(request, selectors.list_note_revisions(note), by="-revision")


class History(APIView):
    @extend_schema(
        operation_id="list_history", parameters=build_query_parameters(HistoryQuery), responses=Page[HistoryEntryRow]
    )
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """List the earlier runs that an agent remembers."""
        query = read_query(request, HistoryQuery)
        entries = selectors.list_history(request.user, agent_id, chat_id=query.chat_id)
        page, next = get_page(entries, query, by="-created_at")
        return build_list_response(selectors.build_history_rows(request.user, page), next)


class ClearHistory(APIView):
    @extend_schema(operation_id="clear_history", request=None, responses=MemoryClearingRow)
    def post(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Clear the earlier runs that an agent remembers. It can be undone for some hours."""
        return build_response(memory.clear_history(request.user, agent_id).to_row())


class UndoClearing(APIView):
    @extend_schema(operation_id="undo_clearing", request=None, responses=MemoryClearingRow)
    def post(self, request: Request, clearing_id: UUID) -> HttpResponse:
        """Undo that the history of an agent was cleared."""
        return build_response(memory.undo_clearing(request.user, clearing_id).to_row())


class MemoryOfRun(APIView):
    @extend_schema(operation_id="read_memory_of_run", responses=MemoryUseRow)
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        """Read what a run has used of its agent's memory."""
        return build_response(selectors.get_memory_use(request.user, run_id))
