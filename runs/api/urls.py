"""URLs of runs and comparisons."""

from django.urls import path

from runs.api import views

urlpatterns = [
    path("chats/<uuid:chat_id>/agents/<uuid:agent_id>/comparisons", views.Comparisons.as_view()),
    path("agents/<uuid:agent_id>/versions/<int:number>/replies", views.Replies.as_view()),
    path("chats/<uuid:chat_id>/runs", views.Runs.as_view()),
    path("workspaces/<uuid:workspace_id>/agent-proposals", views.AgentProposals.as_view()),
    path("workspaces/<uuid:workspace_id>/agent-proposals/<uuid:proposal_id>", views.OneAgentProposal.as_view()),
    path("runs/<uuid:run_id>", views.OneRun.as_view()),
    path("runs/<uuid:run_id>/calls", views.Calls.as_view()),
    path("runs/<uuid:run_id>/stop", views.Stop.as_view()),
    path("runs/<uuid:run_id>/other-answer", views.OtherAnswer.as_view()),
    path("runs/<uuid:run_id>/chosen", views.ChosenAnswer.as_view()),
    path("runs/<uuid:run_id>/retry", views.Retry.as_view()),
]
