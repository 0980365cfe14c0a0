"""The app's entry in Django."""

from django.apps import AppConfig


class EventsConfig(AppConfig):
    name = "events"
