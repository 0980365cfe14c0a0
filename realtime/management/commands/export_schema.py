"""Write the schema from which the web app's types are generated, and the constants that it shares with the server."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from realtime.schema import build_constants, build_schema

GENERATED = settings.ROOT / "frontend" / "src" / "api" / "generated"


class Command(BaseCommand):
    help = "Writes openapi.json and constants.ts in frontend/src/api/generated; --check only says whether they are up to date."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        GENERATED.mkdir(parents=True, exist_ok=True)
        for name, text in {"openapi.json": build_schema(), "constants.ts": build_constants()}.items():
            target = GENERATED / name
            if not options["check"]:
                target.write_text(text)
            elif not target.exists() or target.read_text() != text:
                raise CommandError("The schema has changed: run `manage.py export_schema` and `npm run types`.")
