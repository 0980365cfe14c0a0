"""The app's entry in Django, and that of Django's admin with our site."""

from django.apps import AppConfig
from django.contrib import admin
from django.contrib.admin.apps import AdminConfig


class OperatorsConfig(AppConfig):
    name = "operators"


class OperatorAdminConfig(AdminConfig):
    """Django's admin with our site, and without the pages of other packages: those would bypass our services."""

    default_site = "operators.site.OperatorSite"

    def ready(self) -> None:
        super().ready()
        from admin_kit.model_admin import ReadOnlyAdmin  # needs the models

        for model, model_admin in list(admin.site._registry.items()):
            if not isinstance(model_admin, ReadOnlyAdmin):
                admin.site.unregister(model)
