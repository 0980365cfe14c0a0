"""Keep the admin's translations whole."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.catalogue import found, languages, problems, update


class Command(BaseCommand):
    help = "Takes new texts into locale/*/LC_MESSAGES/django.po and compiles them; --check only says what is missing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        texts = found()
        if not options["check"]:
            for locale in languages():
                update(locale, texts)
        wrong = [line for locale in languages() for line in problems(locale, texts)]
        if wrong:
            raise CommandError("\n".join([*wrong, "Run `manage.py texts` and fill locale/*/LC_MESSAGES/django.po."]))
