"""The app's entry in Django. It registers the kinds of jobs of this app."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SuggestionsConfig(AppConfig):
    name = "suggestions"
    verbose_name = _("Suggestions")

    def ready(self) -> None:
        from runs.kinds import register_kind
        from suggestions.run_kinds import MERGE, SUMMARY

        register_kind(SUMMARY)
        register_kind(MERGE)
