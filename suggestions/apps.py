"""The app's entry in Django."""

from django.apps import AppConfig


class SuggestionsConfig(AppConfig):
    name = "suggestions"
