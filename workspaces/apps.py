"""The app's entry in Django."""

from django.apps import AppConfig


class WorkspacesConfig(AppConfig):
    name = "workspaces"
