"""URLs of boards."""

from django.urls import path

from boards.api import views

urlpatterns = [
    path("chats/<uuid:chat_id>/boards", views.Boards.as_view()),
    path("boards/<uuid:board_id>", views.OneBoard.as_view()),
    path("boards/<uuid:board_id>/results", views.Results.as_view()),
]
