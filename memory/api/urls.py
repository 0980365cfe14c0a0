"""Routes of this app's API."""

from django.urls import path

from memory.api import views

urlpatterns = [
    path("agents/<uuid:agent_id>/memory", views.Memory.as_view()),
    path("agents/<uuid:agent_id>/notes", views.Notes.as_view()),
    path("agents/<uuid:agent_id>/history", views.History.as_view()),
    path("agents/<uuid:agent_id>/history/clear", views.ClearHistory.as_view()),
    path("clearings/<uuid:clearing_id>/undo", views.UndoClearing.as_view()),
    path("notes/<uuid:note_id>", views.OneNote.as_view()),
    path("notes/<uuid:note_id>/forget", views.ForgetNote.as_view()),
    path("notes/<uuid:note_id>/restore", views.RestoreNote.as_view()),
    path("notes/<uuid:note_id>/revisions", views.NoteRevisions.as_view()),
    path("runs/<uuid:run_id>/memory", views.MemoryOfRun.as_view()),
]
