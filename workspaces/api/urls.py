"""Routes of this app's API."""

from django.urls import path

from workspaces.api import me, views

urlpatterns = [
    path("me", me.Me.as_view()),
    path("workspaces", views.Workspaces.as_view()),
    path("workspaces/<uuid:workspace_id>", views.OneWorkspace.as_view()),
    path("workspaces/<uuid:workspace_id>/members", views.Members.as_view()),
    path("workspaces/<uuid:workspace_id>/members/<uuid:actor_id>", views.OneMember.as_view()),
    path("workspaces/<uuid:workspace_id>/leave", views.Leave.as_view()),
    path("workspaces/<uuid:workspace_id>/deletion", views.Deletion.as_view()),
    path("workspaces/<uuid:workspace_id>/restoration", views.Restoration.as_view()),
    path("deleted-workspaces", views.DeletedWorkspaces.as_view()),
]
