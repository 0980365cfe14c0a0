"""The app's entry in Django. It imports the `row_kinds` modules of all apps."""

from django.apps import AppConfig
from django.utils.module_loading import autodiscover_modules
from django.utils.translation import gettext_lazy as _


class EventsConfig(AppConfig):
    name = "events"
    verbose_name = _("Events")

    def ready(self) -> None:
        autodiscover_modules("row_kinds")
