"""The app's entry in Django."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class EmbeddingsConfig(AppConfig):
    name = "embeddings"
    verbose_name = _("Embeddings")
