"""The app's entry in Django."""

from django.apps import AppConfig


class ToolsConfig(AppConfig):
    name = "tools"
