"""Routes of this app's API."""

from django.urls import path

from context.api import views

urlpatterns = [
    path("workspaces/<uuid:workspace_id>/context", views.WorkspaceContextSettings.as_view()),
    path("chats/<uuid:chat_id>/summary", views.Summary.as_view()),
    path("chats/<uuid:chat_id>/summary/sentences/<uuid:sentence_id>", views.OneSentence.as_view()),
    path("chats/<uuid:chat_id>/summary/corrections/<uuid:correction_id>", views.OneCorrection.as_view()),
]
