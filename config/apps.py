"""The app's entry in Django."""

import importlib

from django.apps import AppConfig


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        # Registers the checks, and the Celery application that `shared_task` belongs to.
        for module in ("config.checks", "config.celery"):
            importlib.import_module(module)
