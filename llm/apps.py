"""The app's entry in Django."""

from django.apps import AppConfig


class LLMConfig(AppConfig):
    name = "llm"
