"""Routes of this app's API."""

from django.urls import path

from embeddings.api import views

urlpatterns = [
    path("workspaces/<uuid:workspace_id>/embedding-model", views.OneEmbeddingModel.as_view()),
]
