"""`manage.py make_operator EMAIL`: make a person a superuser, by promoting their account or creating one."""

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from actors import services as actors
from actors.models import Actor
from common.errors import Invalid


class Command(BaseCommand):
    help = (
        "Make the person with this email an operator. Shows an existing account and asks before it is promoted. Without an"
        " account one is created, with a link for its password."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--yes", action="store_true", help="Promote an existing account without a question.")

    def handle(self, *args: Any, email: str, yes: bool, **options: Any) -> None:
        email = email.strip()
        try:
            account = actors.find_account(email)
            if account is not None and not account.is_superuser:
                self._confirm(account, yes=yes)
            person = actors.make_superuser(email, account_id=account.pk if account else None)
        except Invalid as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"{person.name} (@{person.handle}) is an operator now.")
        if account is None:
            self.stdout.write("The account is new. Set its password here; the link works once:")
            self.stdout.write(actors.create_reset_link(person, web_app_url=settings.WEB_APP_URL))

    def _confirm(self, account: Actor, *, yes: bool) -> None:
        """Show an account, which somebody else may have made with the address. Raise `CommandError` unless it is to be promoted."""
        is_verified = actors.has_verified_email(account)
        self.stdout.write(f"Name:     {account.name} (@{account.handle})")
        self.stdout.write(f"Address:  {account.email} ({'verified' if is_verified else 'NOT verified'})")
        self.stdout.write(f"Created:  {account.created_at:%Y-%m-%d %H:%M} UTC")
        if yes:
            return
        if not sys.stdin.isatty():
            raise CommandError(
                "Nothing was changed. Promote this account with --yes, or run the command in a terminal."
            )
        self.stdout.write("Make this account an operator? [y/N] ", ending="")
        self.stdout.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise CommandError("Nothing was changed.")
