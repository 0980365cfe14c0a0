"""Count the statements that are sent to the database, and the rows that they return or read."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connection


@dataclass
class RecordedStatements:
    """The statements of a block, each with the number of rows that it returned or changed."""

    statements: list[tuple[str, int]] = field(default_factory=list)

    def count_rows(self, table: str) -> int:
        """Return how many rows were read by statements that read from this table first."""
        return sum(rows for sql, rows in self.statements if f'FROM "{table}"' in sql and sql.startswith("SELECT"))


@contextmanager
def record_statements() -> Iterator[RecordedStatements]:
    """Record the statements of this thread during the block."""
    recorded = RecordedStatements()

    def count(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]) -> Any:
        result = execute(sql, params, many, context)
        recorded.statements.append((sql, context["cursor"].rowcount))
        return result

    with connection.execute_wrapper(count):
        yield recorded


def list_plan_nodes(sql: str) -> list[dict[str, Any]]:
    """Execute a statement, and return the nodes of its plan (`EXPLAIN ANALYZE`)."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}")
        [(found,)] = cursor.fetchall()
    [plan] = json.loads(found) if isinstance(found, str) else found
    nodes = [plan["Plan"]]
    for node in nodes:
        nodes += node.get("Plans", [])
    return nodes
