"""The app configuration."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WakingConfig(AppConfig):
    name = "waking"
    verbose_name = _("Waking")
