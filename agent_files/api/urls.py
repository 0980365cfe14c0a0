"""Routes of this app's API."""

from django.urls import path

from agent_files.api import views

urlpatterns = [
    path("agents/<uuid:agent_id>/file", views.ExportAgent.as_view()),
    path("agent-file-schema", views.FileSchema.as_view()),
    path("workspaces/<uuid:workspace_id>/agents/import", views.ImportAgent.as_view()),
]
