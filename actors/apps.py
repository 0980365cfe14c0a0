"""The app's entry in Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ActorsConfig(AppConfig):
    name = "actors"
    verbose_name = _("Actors")
