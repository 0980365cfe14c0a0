"""The app's entry in Django."""

from django.apps import AppConfig


class CommonConfig(AppConfig):
    name = "common"
