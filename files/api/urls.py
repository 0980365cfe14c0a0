"""Routes of this app's API."""

from django.urls import path

from files.api import views

urlpatterns = [
    path("workspaces/<uuid:workspace_id>/files", views.WorkspaceFiles.as_view()),
    path("chats/<uuid:chat_id>/files", views.ChatFiles.as_view()),
    path("files/<uuid:file_id>", views.OneFile.as_view()),
    path("files/<uuid:file_id>/post", views.PostedFile.as_view()),
    path("files/<uuid:file_id>/text", views.FileText.as_view()),
    path("files/<uuid:file_id>/content", views.FileContent.as_view()),
    path("files/<uuid:file_id>/thumbnail", views.FileThumbnail.as_view()),
]
