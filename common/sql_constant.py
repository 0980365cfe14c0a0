"""Constants of our code in the SQL of a query."""

import re
from typing import Any

from django.db.models import CharField, Value

_HARMLESS = re.compile(r"\w+")


class SqlConstant(Value):
    """A word that is written into the SQL of a query, instead of being sent as a parameter.

    For the condition of a partial index. After some executions, PostgreSQL may plan a statement without its parameters. Such a
    plan cannot use the index, and may read a whole chat to find a few rows.
    """

    def __init__(self, word: str) -> None:
        """Raises `ValueError` for a text with other characters than letters, digits and underscores."""
        if not _HARMLESS.fullmatch(word):
            raise ValueError(f"{word!r} is no word.")
        super().__init__(word, output_field=CharField())

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[str | int, ...]]:
        return f"'{self.value}'", ()
