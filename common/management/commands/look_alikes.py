"""Write `common/look_alikes.txt` anew, from a newer `confusables.txt` of Unicode."""

import re
import unicodedata
from collections import defaultdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from common.look_alikes import TABLE

MAPPING = re.compile(r"^\ufeff?([0-9A-F]+) ;\t([0-9A-F ]+) ;\tMA", re.MULTILINE)


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("confusables", type=Path, help="the file confusables.txt of Unicode's security data")

    def handle(self, *, confusables: Path, **options: Any) -> None:
        sources = defaultdict(list)
        for source, target in MAPPING.findall(confusables.read_text(encoding="utf-8")):
            char = chr(int(source, 16))
            # The other characters are replaced by NFKD before the table is used.
            if unicodedata.normalize("NFKD", char) == char:
                sources[target].append(source)
        notice = [line for line in TABLE.read_text().splitlines() if line.startswith("#")]
        lines = [f"{target}: {' '.join(sorted(found))}" for target, found in sorted(sources.items())]
        TABLE.write_text("\n".join([*notice, *lines, ""]))
        self.stdout.write(f"{sum(map(len, sources.values()))} characters. Name the version of Unicode in the notice.")
