"""Django's `migrate`, with a check before it: a database with migrations that this release does not know is refused."""

import gc
from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader

PROJECT = Path(__file__).resolve().parents[3]


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        loader = MigrationLoader(connections[options["database"]])
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
        # Each operation of a migration builds model classes anew. With its usual thresholds the garbage collector takes a third of
        # the time of the first migration; with these the process needs 200 MB more.
        usual = gc.get_threshold()
        gc.set_threshold(3_000_000, 10, 10)
        try:
            super().handle(*args, **options)
        finally:
            gc.set_threshold(*usual)

    def run_from_argv(self, argv: list[str]) -> None:
        super().run_from_argv(argv)
        gc.freeze()  # the process ends now, and would search all these objects for unused ones first: 0.3 s
