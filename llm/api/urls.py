"""URLs of the models that can be chosen, of those of workspaces and people, and of model tests."""

from django.urls import path

from llm.api import views

urlpatterns = [
    path("model-offers", views.Offers.as_view()),
    path("model-providers", views.Providers.as_view()),
    path("workspaces/<uuid:workspace_id>/model", views.Model.as_view()),
    path("workspaces/<uuid:workspace_id>/model/policy", views.ModelPolicy.as_view()),
    path("workspaces/<uuid:workspace_id>/model/test", views.ModelTests.as_view()),
    path("workspaces/<uuid:workspace_id>/model/test/<uuid:test_id>", views.OneModelTest.as_view()),
    path("me/llm-profile", views.OwnLLMProfile.as_view()),
    path("me/llm-profile/test", views.LLMProfileTests.as_view()),
    path("me/llm-profile/test/<uuid:test_id>", views.OneLLMProfileTest.as_view()),
]
