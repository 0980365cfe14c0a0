"""The app's entry in Django."""

from django.apps import AppConfig


class RealtimeConfig(AppConfig):
    name = "realtime"
