"""URLs of the models that can be chosen, and of model tests."""

from django.urls import path

from llm.api import views

urlpatterns = [
    path("model-offers", views.Offers.as_view()),
    path("model-providers", views.Providers.as_view()),
    path("workspaces/<uuid:workspace_id>/model/test", views.ModelTests.as_view()),
    path("workspaces/<uuid:workspace_id>/model/test/<uuid:test_id>", views.OneModelTest.as_view()),
]
