"""At start: register the checks and the Celery application, and connect the listeners to the hooks."""

import importlib
from typing import Any

from django.apps import AppConfig
from django.utils.module_loading import import_string

from config.hooks import LISTENERS


class ConfigConfig(AppConfig):
    name = "config"

    def ready(self) -> None:
        # `shared_task` uses the Celery application that exists when a task is first called, so ours is created here.
        for module in ("config.checks", "config.celery"):
            importlib.import_module(module)
        for path, listeners in LISTENERS.items():
            hook: Any = import_string(path)
            hook.connect([import_string(listener) for listener in listeners])
