"""The app's entry in Django."""

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"
