"""The app's entry in Django."""

from django.apps import AppConfig


class NotificationsConfig(AppConfig):
    name = "notifications"
