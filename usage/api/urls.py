"""Routes of this app's API."""

from django.urls import path

from usage.api import views

urlpatterns = [
    path("workspaces/<uuid:workspace_id>/usage", views.WorkspaceUsage.as_view()),
    path("workspaces/<uuid:workspace_id>/usage.csv", views.UsageCSV.as_view()),
    path("workspaces/<uuid:workspace_id>/budgets", views.Budgets.as_view()),
    path("workspaces/<uuid:workspace_id>/prices", views.Prices.as_view()),
    path("budgets/<uuid:budget_id>", views.OneBudget.as_view()),
    path("prices/<uuid:price_id>", views.OnePrice.as_view()),
]
