"""`manage.py create_messages`: append many messages to a chat, for measurements."""

import json
from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand

from context.seeding import MAX_FACTS, build_facts, create_messages


class Command(BaseCommand):
    help = "Append many messages in English and Chinese to a chat, in the names of its participants."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--chat", type=UUID, required=True, help="The id of the chat.")
        parser.add_argument("--count", type=int, default=1_000_000, help="The number of messages.")
        parser.add_argument(
            "--facts",
            type=int,
            default=0,
            nargs="?",
            const=50,
            help=f"How many of the messages are facts: none by default, 50 without a number, at most {MAX_FACTS}. "
            "Their questions are printed as JSON.",
        )
        parser.add_argument("--seed", type=int, default=1, help="Another number makes other messages.")

    def handle(self, *args: Any, **options: Any) -> None:
        facts = build_facts(options["facts"], options["seed"])
        create_messages(options["chat"], options["count"], facts=facts, seed=options["seed"])
        for fact in facts:
            self.stdout.write(json.dumps({"question": fact.question, "answer": fact.text}, ensure_ascii=False))
        self.stdout.write(f"{options['count']:,} messages were added.")
