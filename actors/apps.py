"""The app's entry in Django."""

from django.apps import AppConfig


class ActorsConfig(AppConfig):
    name = "actors"
