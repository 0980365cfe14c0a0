"""The app's entry in Django."""

from django.apps import AppConfig


class ChatsConfig(AppConfig):
    name = "chats"
