"""Django's admin as an app, with our site in it."""

import importlib

from django.contrib.admin.apps import AdminConfig


class OperatorsConfig(AdminConfig):
    """Of other packages' tables nothing is in the admin: those pages go past our services. Ours are called by their names."""

    default_site = "config.operators.site.OperatorSite"

    def ready(self) -> None:
        super().ready()
        site = importlib.import_module("django.contrib.admin").site
        ours = importlib.import_module("events.admin_pages").Read
        site.unregister([table for table, page in list(site._registry.items()) if not isinstance(page, ours)])
        importlib.import_module("config.operators.names").translate_names(site)
