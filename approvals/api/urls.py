"""Routes of this app's API."""

from django.urls import path

from approvals.api import views

urlpatterns = [
    path("me/approvals", views.WaitingApprovals.as_view()),
    path("approvals/<uuid:approval_id>", views.OneApproval.as_view()),
    path("approvals/<uuid:approval_id>/decide", views.Decide.as_view()),
]
