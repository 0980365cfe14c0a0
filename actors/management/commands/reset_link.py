"""`manage.py reset_link EMAIL`: create a link for a new password, for installations that send no mails."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from actors import services as actors
from actors.models import Actor


class Command(BaseCommand):
    help = "Print a link by which this person sets a new password: it works once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        person = Actor.people.filter(email__iexact=email, is_active=True).first()
        if person is None:
            raise CommandError("Nobody has an open account with this email.")
        self.stdout.write(actors.create_reset_link(person, web_app_url=settings.WEB_APP_URL))
