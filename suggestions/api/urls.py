"""Routes of this app's API."""

from django.urls import path

from suggestions.api import merges, views

AGENT_IN_CHAT = "chats/<uuid:chat_id>/agents/<uuid:agent_id>"
SUGGESTION = "suggestions/<uuid:suggestion_id>"

urlpatterns = [
    path(f"{AGENT_IN_CHAT}/draft/suggest", views.SuggestDraft.as_view()),
    path(f"{AGENT_IN_CHAT}/draft/suggestions", views.DraftSuggestions.as_view()),
    path(f"{AGENT_IN_CHAT}/suggestions", views.SuggestSpec.as_view()),
    path("workspaces/<uuid:workspace_id>/suggestions", views.Suggestions.as_view()),
    path("workspaces/<uuid:workspace_id>/suggestions/count", views.PendingCount.as_view()),
    path(SUGGESTION, views.OneSuggestion.as_view()),
    path(f"{SUGGESTION}/reject", views.RejectSuggestion.as_view()),
    path(f"{SUGGESTION}/accept", views.AcceptSuggestion.as_view()),
    path(f"{SUGGESTION}/withdraw", views.WithdrawSuggestion.as_view()),
    path(f"{SUGGESTION}/summarize", views.SummarizeSuggestion.as_view()),
    path("agents/<uuid:agent_id>/merges", merges.NewMerge.as_view()),
    path("workspaces/<uuid:workspace_id>/merges", merges.Merges.as_view()),
    path("merges/<uuid:merge_id>", merges.OneMerge.as_view()),
    path("merges/<uuid:merge_id>/stop", merges.StopMerge.as_view()),
    path("merges/<uuid:merge_id>/retry", merges.RetryMerge.as_view()),
]
