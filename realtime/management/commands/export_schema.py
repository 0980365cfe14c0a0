"""Write the schema from which the web app's types are generated, and the constants and defaults that it shares with the server."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from realtime.schema import build_constants, build_default_spec, build_schema

SOURCES = settings.ROOT / "frontend" / "src"


class Command(BaseCommand):
    help = (
        "Writes the schema, the default spec and the constants of the web app; --check says whether they are current."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        texts = {
            "api/generated/openapi.json": build_schema(),
            "api/generated/defaultSpec.ts": build_default_spec(),
            "lib/serverConstants.ts": build_constants(),
        }
        for name, text in texts.items():
            target = SOURCES / name
            if not options["check"]:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)
            elif not target.exists() or target.read_text() != text:
                raise CommandError("The schema has changed: run `manage.py export_schema` and `npm run types`.")
