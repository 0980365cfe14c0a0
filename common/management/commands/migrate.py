"""Django's `migrate`, with two steps before it: a database with migrations that this release does not know is refused, and an empty
database gets its tables from `common/schema.sql` (ADR 0022)."""

from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections, transaction
from django.db.migrations.loader import MigrationLoader

PROJECT = Path(__file__).resolve().parents[3]
SCHEMA = PROJECT / "common" / "schema.sql"
"""The tables that the migrations which it lists make of an empty database. `python -m tests.releases.schema` writes it."""


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        loader = MigrationLoader(connection)
        own = {config.label for config in apps.get_app_configs() if Path(config.path).parent == PROJECT}
        unknown = sorted(
            f"{label}.{name}"
            for label, name in loader.applied_migrations
            if label in own and (label, name) not in loader.disk_migrations
        )
        if unknown:
            raise CommandError(
                f"This database was written by another release of Atelier: this one does not know {unknown[0]}. Nothing was"
                " changed. Run the release that wrote it, or name an empty folder by ATELIER_HOME."
            )
        # Only a run that would apply all migrations.
        if not (options["app_label"] or options["plan"] or options["check_unapplied"] or options["fake"]):
            with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
                if not connection.introspection.table_names(cursor):
                    cursor.execute(SCHEMA.read_text())
        super().handle(*args, **options)
