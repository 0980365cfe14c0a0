"""The app configuration. It imports the `agent_tools` modules of all apps."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules


class ToolsConfig(AppConfig):
    name = "tools"

    def ready(self) -> None:
        autodiscover_modules("agent_tools")
