"""Routes of this app's API."""

from django.urls import path

from suggestions.api import merges, views

OF_AGENT = "chats/<uuid:chat_id>/agents/<uuid:agent_id>"
ONE = "suggestions/<uuid:suggestion_id>"

urlpatterns = [
    path(f"{OF_AGENT}/draft/suggest", views.SuggestDraft.as_view()),
    path(f"{OF_AGENT}/suggestions", views.SuggestText.as_view()),
    path("workspaces/<uuid:workspace_id>/suggestions", views.Suggestions.as_view()),
    path("workspaces/<uuid:workspace_id>/suggestions/count", views.Count.as_view()),
    path(ONE, views.OneSuggestion.as_view()),
    path(f"{ONE}/reject", views.RejectSuggestion.as_view()),
    path(f"{ONE}/accept", views.AcceptSuggestion.as_view()),
    path(f"{ONE}/withdraw", views.WithdrawSuggestion.as_view()),
    path(f"{ONE}/summarize", views.Summarize.as_view()),
    path("agents/<uuid:agent_id>/merges", merges.NewMerge.as_view()),
    path("workspaces/<uuid:workspace_id>/merges", merges.Merges.as_view()),
    path("merges/<uuid:merge_id>", merges.OneMerge.as_view()),
    path("merges/<uuid:merge_id>/stop", merges.Stop.as_view()),
    path("merges/<uuid:merge_id>/retry", merges.Retry.as_view()),
]
