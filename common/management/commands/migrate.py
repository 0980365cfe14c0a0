"""Django's `migrate`, with two steps before it: a database with migrations that this release does not know is refused, and those of
an empty database are run without rendering all models for each operation."""

from pathlib import Path
from typing import Any

from django.apps import apps
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ModelState, ProjectState

PROJECT = Path(__file__).resolve().parents[3]


class StateOfEmptyDatabase(ProjectState):
    """The models of migrations. What is added renders one model anew, not also those that are related to it.

    In Django, nearly all models are rendered for each model, foreign key or index that is added, because nearly all are related:
    9,000 times for a first start, which takes ten seconds. The model that has it is enough to create it.
    A foreign key that is altered still renders all, and `RunPython` gets all models as they are then (`is_delayed`).
    """

    _is_adding = False

    def add_model(self, model_state: ModelState) -> None:
        self._is_adding = True
        super().add_model(model_state)
        self._is_adding = False

    def add_field(self, *args: Any, **kwargs: Any) -> None:
        self._is_adding = True
        super().add_field(*args, **kwargs)
        self._is_adding = False

    def _find_reload_model(self, app_label: str, model_name: str, delay: bool = False) -> set[tuple[str, str]]:
        if delay or self._is_adding:
            self.is_delayed = True
            return {(app_label, model_name)}
        related: set[tuple[str, str]] = super()._find_reload_model(app_label, model_name, delay)  # type: ignore[misc]  # private
        return related


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
            with connection.cursor() as cursor:
                is_empty = not connection.introspection.table_names(cursor)
            if is_empty:
                executor = MigrationExecutor(connection)
                state = StateOfEmptyDatabase(real_apps=executor.loader.unmigrated_apps)
                executor.migrate(executor.loader.graph.leaf_nodes(), state=state)
        super().handle(*args, **options)
