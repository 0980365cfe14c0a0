"""The app's entry in Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class InspectorConfig(AppConfig):
    name = "inspector"
    verbose_name = _("Inspector")
