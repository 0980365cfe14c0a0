"""Write the schema from which the web app's types are generated."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from realtime.schema import build_schema

TARGET = settings.ROOT / "frontend" / "src" / "api" / "generated" / "openapi.json"


class Command(BaseCommand):
    help = "Writes frontend/src/api/generated/openapi.json; --check only says whether it is up to date."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        document = build_schema()
        if not options["check"]:
            TARGET.parent.mkdir(parents=True, exist_ok=True)
            TARGET.write_text(document)
        elif not TARGET.exists() or TARGET.read_text() != document:
            raise CommandError("The schema has changed: run `manage.py export_schema` and `npm run types`.")
