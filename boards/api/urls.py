"""URLs of boards."""

from django.urls import path

from boards.api import views

urlpatterns = [
    path("workspaces/<uuid:workspace_id>/boards", views.Settings.as_view()),
    path("chats/<uuid:chat_id>/boards", views.Boards.as_view()),
    path("chats/<uuid:chat_id>/boards/estimate", views.Estimate.as_view()),
    path("boards/<uuid:board_id>", views.OneBoard.as_view()),
    path("boards/<uuid:board_id>/results", views.Results.as_view()),
    path("boards/<uuid:board_id>/start", views.Start.as_view()),
    path("boards/<uuid:board_id>/stop", views.Stop.as_view()),
    path("boards/<uuid:board_id>/pause", views.Pause.as_view()),
    path("boards/<uuid:board_id>/resume", views.Resume.as_view()),
    path("boards/<uuid:board_id>/answer", views.Answer.as_view()),
    path("boards/<uuid:board_id>/fork", views.Fork.as_view()),
    path("boards/<uuid:board_id>/approvals/<uuid:approval_id>/decide", views.DecideEqual.as_view()),
    path("boards/<uuid:board_id>/tasks/<int:number>/retry", views.Retry.as_view()),
]
