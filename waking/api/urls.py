"""URLs of the wake preview and of waking by hand."""

from django.urls import path

from waking.api import views

urlpatterns = [
    path("chats/<uuid:chat_id>/wakes", views.PreviewWakes.as_view()),
    path("chats/<uuid:chat_id>/agents/<uuid:agent_id>/wake", views.Wake.as_view()),
]
