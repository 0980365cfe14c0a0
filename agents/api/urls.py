"""Routes of this app's API."""

from django.urls import path

from agents.api import comparisons, drafts, files, models, runs, versions, views

DRAFT = "chats/<uuid:chat_id>/agents/<uuid:agent_id>/draft"
VERSION = "agents/<uuid:agent_id>/versions/<int:number>"

urlpatterns = [
    path("agent-templates", views.Templates.as_view()),
    path("tools", views.Tools.as_view()),
    path("workspaces/<uuid:workspace_id>/agents", views.Agents.as_view()),
    path("agents/<uuid:agent_id>", views.OneAgent.as_view()),
    path("agents/<uuid:agent_id>/versions", versions.Versions.as_view()),
    path(VERSION, versions.OneVersion.as_view()),
    path(f"{VERSION}/replies", versions.Replies.as_view()),
    path(f"{VERSION}/restore", versions.Restore.as_view()),
    path("agents/<uuid:agent_id>/specs/<uuid:spec_id>", versions.OneSpec.as_view()),
    path("agents/<uuid:agent_id>/diff", versions.Diff.as_view()),
    path("agents/<uuid:agent_id>/file", files.Export.as_view()),
    path("agent-file-schema", files.Shape.as_view()),
    path("workspaces/<uuid:workspace_id>/agents/import", files.Import.as_view()),
    path("model-offers", models.Offers.as_view()),
    path("workspaces/<uuid:workspace_id>/model/test", models.Test.as_view()),
    path(DRAFT, drafts.OneDraft.as_view()),
    path(f"{DRAFT}/earlier", drafts.EarlierTexts.as_view()),
    path(f"{DRAFT}/wish", drafts.Wish.as_view()),
    path(f"{DRAFT}/ask", drafts.Ask.as_view()),
    path(f"{DRAFT}/apply", drafts.Apply.as_view()),
    path(f"{DRAFT}/save", drafts.Save.as_view()),
    path(f"{DRAFT}/rebase", drafts.Rebase.as_view()),
    path(f"{DRAFT}/discard", drafts.Discard.as_view()),
    path(f"{DRAFT}/release", drafts.Release.as_view()),
    path("chats/<uuid:chat_id>/agents/<uuid:agent_id>/comparisons", comparisons.Comparisons.as_view()),
    path("chats/<uuid:chat_id>/comparisons/<uuid:comparison_id>/vote", comparisons.Ballot.as_view()),
    path("chats/<uuid:chat_id>/runs", runs.Runs.as_view()),
    path("chats/<uuid:chat_id>/wakes", runs.Wakes.as_view()),
    path("runs/<uuid:run_id>", runs.OneRun.as_view()),
    path("runs/<uuid:run_id>/stop", runs.Stop.as_view()),
    path("runs/<uuid:run_id>/retry", runs.Retry.as_view()),
]
