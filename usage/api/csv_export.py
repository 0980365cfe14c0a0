"""Write usage as CSV for spreadsheets."""

from collections.abc import Iterable

from common.csv_format import format_csv
from events.rows import UsageRow

COLUMNS = (
    "day",
    "id",
    "name",
    "version",
    "models",
    "runs",
    "calls",
    "calls without a known price",
    "input tokens",
    "output tokens",
    "cost in USD",
    "of it on drafts in USD",
)


def write_csv(rows: Iterable[UsageRow]) -> str:
    """Return the rows as CSV, with the same columns for every group. `id` tells trees and people of the same name apart."""
    return format_csv(COLUMNS, map(_list_cells, rows))


def _list_cells(row: UsageRow) -> list[str | int]:
    cells: list[str | int] = [str(row.day or ""), row.key, row.name, str(row.version or "")]
    cells += [" ".join(row.models), row.runs, row.calls, row.unpriced_calls]
    return [*cells, row.input_tokens, row.output_tokens, f"{row.cost_micro / 1e6:.6f}", f"{row.draft_micro / 1e6:.6f}"]
