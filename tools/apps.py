"""The app configuration. It imports the `agent_tools` modules of all apps."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class ToolsConfig(AppConfig):
    name = "tools"
    verbose_name = _("Tools")

    def ready(self) -> None:
        autodiscover_modules("agent_tools")
