"""Addresses of runs and comparisons."""

from django.urls import path

from runs.api import comparisons, runs

urlpatterns = [
    path("chats/<uuid:chat_id>/agents/<uuid:agent_id>/comparisons", comparisons.Comparisons.as_view()),
    path("chats/<uuid:chat_id>/comparisons/<uuid:comparison_id>/vote", comparisons.Ballot.as_view()),
    path("agents/<uuid:agent_id>/versions/<int:number>/replies", runs.Replies.as_view()),
    path("chats/<uuid:chat_id>/runs", runs.Runs.as_view()),
    path("chats/<uuid:chat_id>/wakes", runs.Wakes.as_view()),
    path("runs/<uuid:run_id>", runs.OneRun.as_view()),
    path("runs/<uuid:run_id>/stop", runs.Stop.as_view()),
    path("runs/<uuid:run_id>/retry", runs.Retry.as_view()),
]
