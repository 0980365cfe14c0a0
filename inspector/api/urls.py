"""Routes of this app's API."""

from django.urls import path

from inspector.api import views

urlpatterns = [
    path("agents/<uuid:agent_id>/runs", views.AgentRuns.as_view()),
    path("agents/<uuid:agent_id>/viewpoint", views.Viewpoint.as_view()),
    path("runs/<uuid:run_id>/inspection", views.RunInspection.as_view()),
    path("runs/<uuid:run_id>/requests/<uuid:request_id>", views.OneSentRequest.as_view()),
]
