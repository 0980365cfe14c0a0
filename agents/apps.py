"""The app's entry in Django."""

from django.apps import AppConfig


class AgentsConfig(AppConfig):
    name = "agents"
