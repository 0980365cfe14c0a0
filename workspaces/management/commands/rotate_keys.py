"""`manage.py rotate_keys`: encrypt stored keys with the newest of SECRET_KEYS, so that older ones can be removed."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from common.key_rotation import rotate_keys


class Command(BaseCommand):
    help = (
        "Encrypt all stored keys and credentials with the newest of SECRET_KEYS. It can be interrupted and run again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--batch", type=int, default=200, help="number of keys that are read at once")

    def handle(self, *args: Any, batch: int, **options: Any) -> None:
        rotated = undecryptable = 0
        for rotated_in_batch, undecryptable_in_batch in rotate_keys(batch=batch):
            rotated += rotated_in_batch
            undecryptable += undecryptable_in_batch
            self.stdout.write(f"{rotated} encrypted anew")
        if undecryptable:
            raise CommandError(
                f"{undecryptable} keys open with none of SECRET_KEYS. Keep the old one, or delete these keys."
            )
        self.stdout.write("Everything opens with the newest key alone: the older ones can be taken out of SECRET_KEYS.")
