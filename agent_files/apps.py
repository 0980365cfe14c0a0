"""The app's entry in Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AgentFilesConfig(AppConfig):
    name = "agent_files"
    verbose_name = _("Files of agents")
