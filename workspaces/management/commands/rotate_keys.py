"""`manage.py rotate_keys`: encrypt what is stored anew under the newest of SECRET_KEYS, so that an older one can be retired."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from workspaces.services import rotate_model_keys


class Command(BaseCommand):
    help = "Encrypt the model keys of all workspaces anew under the newest of SECRET_KEYS. It can be broken off and run again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--batch", type=int, default=200, help="how many are read at once")

    def handle(self, *args: Any, batch: int, **options: Any) -> None:
        done = lost = 0
        for newly, unopened in rotate_model_keys(batch=batch):
            done, lost = done + newly, lost + unopened
            self.stdout.write(f"{done} encrypted anew")
        if lost:
            raise CommandError(f"{lost} keys open with none of SECRET_KEYS. Keep the old one, or delete these keys.")
        self.stdout.write("Everything opens with the newest key alone: the older ones can be taken out of SECRET_KEYS.")
