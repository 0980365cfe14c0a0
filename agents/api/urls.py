"""Routes of this app's API."""

from django.urls import path

from agents.api import drafts, files, versions, views

DRAFT = "chats/<uuid:chat_id>/agents/<uuid:agent_id>/draft"
VERSION = "agents/<uuid:agent_id>/versions/<int:number>"

urlpatterns = [
    path("agent-templates", views.Templates.as_view()),
    path("tools", views.Tools.as_view()),
    path("workspaces/<uuid:workspace_id>/agents", views.Agents.as_view()),
    path("agents/<uuid:agent_id>", views.OneAgent.as_view()),
    path("agents/<uuid:agent_id>/versions", versions.Versions.as_view()),
    path(VERSION, versions.OneVersion.as_view()),
    path(f"{VERSION}/restore", versions.Restore.as_view()),
    path("agents/<uuid:agent_id>/specs/<uuid:spec_id>", versions.OneSpec.as_view()),
    path("agents/<uuid:agent_id>/diff", versions.Diff.as_view()),
    path("chats/<uuid:chat_id>/messages/<uuid:message_id>/diff", versions.AppliedDiff.as_view()),
    path("agents/<uuid:agent_id>/file", files.Export.as_view()),
    path("agent-file-schema", files.FileSchema.as_view()),
    path("workspaces/<uuid:workspace_id>/agents/import", files.Import.as_view()),
    path("workspaces/<uuid:workspace_id>/locked-drafts", drafts.LockedDrafts.as_view()),
    path(DRAFT, drafts.OneDraft.as_view()),
    path(f"{DRAFT}/snapshots", drafts.DraftSnapshots.as_view()),
    path(f"{DRAFT}/waiter", drafts.Waiter.as_view()),
    path(f"{DRAFT}/request", drafts.RequestDraft.as_view()),
    path(f"{DRAFT}/hand-over", drafts.HandOver.as_view()),
    path(f"{DRAFT}/trial", drafts.Trial.as_view()),
    path(f"{DRAFT}/apply", drafts.Apply.as_view()),
    path(f"{DRAFT}/save", drafts.Save.as_view()),
    path(f"{DRAFT}/rebase", drafts.Rebase.as_view()),
    path(f"{DRAFT}/discard", drafts.Discard.as_view()),
    path(f"{DRAFT}/release", drafts.Release.as_view()),
    path("chats/<uuid:chat_id>/comparisons/<uuid:comparison_id>/vote", drafts.Votes.as_view()),
]
