"""The app's entry in Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ContextConfig(AppConfig):
    name = "context"
    verbose_name = _("Context")
