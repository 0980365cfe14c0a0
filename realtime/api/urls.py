"""Routes of this app's API."""

from django.urls import path

from realtime.api import views

urlpatterns = [
    path("chats/<uuid:chat_id>/changes", views.ReadChanges.as_view()),
    path("schema", views.schema),
]
