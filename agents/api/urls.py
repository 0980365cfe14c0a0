"""Routes of this app's API."""

from django.urls import path

from agents.api import drafts, teams, versions, views

DRAFT = "chats/<uuid:chat_id>/agents/<uuid:agent_id>/draft"
VERSION = "agents/<uuid:agent_id>/versions/<int:number>"

urlpatterns = [
    path("agent-templates", views.AgentTemplates.as_view()),
    path("team-templates", teams.TeamTemplates.as_view()),
    path("workspaces/<uuid:workspace_id>/teams", teams.Teams.as_view()),
    path("tools", views.SystemTools.as_view()),
    path("workspaces/<uuid:workspace_id>/agents", views.Agents.as_view()),
    path("workspace-tools/<uuid:tool_id>/agents", views.ToolAgents.as_view()),
    path("agents/<uuid:agent_id>", views.OneAgent.as_view()),
    path("agents/<uuid:agent_id>/thumbs", views.AgentThumbs.as_view()),
    path("agents/<uuid:agent_id>/thumbs/counts", views.AgentThumbCounts.as_view()),
    path("agents/<uuid:agent_id>/parent", views.AgentParent.as_view()),
    path("agents/<uuid:agent_id>/versions", versions.Versions.as_view()),
    path(VERSION, versions.OneVersion.as_view()),
    path(f"{VERSION}/restore", versions.RestoreVersion.as_view()),
    path("agents/<uuid:agent_id>/specs/<uuid:spec_id>", versions.OneSpec.as_view()),
    path("agents/<uuid:agent_id>/diff", versions.VersionDiff.as_view()),
    path("chats/<uuid:chat_id>/messages/<uuid:message_id>/diff", versions.AppliedDiff.as_view()),
    path("workspaces/<uuid:workspace_id>/locked-drafts", drafts.LockedDrafts.as_view()),
    path(DRAFT, drafts.OneDraft.as_view()),
    path(f"{DRAFT}/snapshots", drafts.DraftSnapshots.as_view()),
    path(f"{DRAFT}/lock-waiter", drafts.OneLockWaiter.as_view()),
    path(f"{DRAFT}/request", drafts.RequestDraft.as_view()),
    path(f"{DRAFT}/hand-over", drafts.HandOverDraft.as_view()),
    path(f"{DRAFT}/trial", drafts.DraftTrial.as_view()),
    path(f"{DRAFT}/apply", drafts.ApplyDraft.as_view()),
    path(f"{DRAFT}/save", drafts.SaveDraft.as_view()),
    path(f"{DRAFT}/rebase", drafts.RebaseDraft.as_view()),
    path(f"{DRAFT}/discard", drafts.DiscardDraft.as_view()),
    path(f"{DRAFT}/release", drafts.ReleaseDraft.as_view()),
    path("chats/<uuid:chat_id>/comparisons/<uuid:comparison_id>/vote", drafts.CastVote.as_view()),
]
