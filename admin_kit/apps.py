"""The app's entry in Django."""

from django.apps import AppConfig


class AdminKitConfig(AppConfig):
    name = "admin_kit"
