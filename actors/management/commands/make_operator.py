"""`manage.py make_operator EMAIL`: make a person a superuser, by promoting their account or creating one."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from actors import services as actors
from common.errors import Invalid


class Command(BaseCommand):
    help = (
        "Make the person with this email an operator. Without an account one is created, with a link for its password."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        try:
            person, is_new = actors.make_superuser(email.strip())
        except Invalid as error:
            raise CommandError(error.message) from error
        # Whoever reads the name and the date notices if somebody else has signed up with this address.
        self.stdout.write(
            f"{person.name} (@{person.handle}, signed up {person.created_at:%Y-%m-%d}) is an operator now."
        )
        if is_new:
            self.stdout.write("The account is new. Set its password here; the link works once:")
            self.stdout.write(actors.create_reset_link(person, web_app_url=settings.WEB_APP_URL))
