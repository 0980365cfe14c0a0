"""Write usage as CSV for spreadsheets."""

import csv
import io
import re
from collections.abc import Iterable

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
# Where a cell begins in a spreadsheet that separates cells by another character than we do, or reads a line break as a new row.
FORMULA_BEGINNING = re.compile(r"(?:^|[;,|\t\r\n])(?=[\s\"]*[=+\-@＝＋－＠])|^(?=[\t\r\n])")
BYTE_ORDER_MARK = "\ufeff"
"""With it, spreadsheets read UTF-8."""


def write_csv(rows: Iterable[UsageRow]) -> str:
    """Return the rows as CSV, with the same columns for every group. `id` tells trees and people of the same name apart. What a
    spreadsheet would execute as a formula gets an apostrophe before it, whichever character separates the cells there."""
    file = io.StringIO()
    file.write(BYTE_ORDER_MARK)
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for row in rows:
        cells: list[str | int] = [str(row.day or ""), row.key, row.name, str(row.version or "")]
        cells += [" ".join(row.models), row.runs, row.calls, row.unpriced_calls]
        cells += [row.input_tokens, row.output_tokens, f"{row.cost_micro / 1e6:.6f}", f"{row.draft_micro / 1e6:.6f}"]
        writer.writerow([FORMULA_BEGINNING.sub(r"\g<0>'", cell) if isinstance(cell, str) else cell for cell in cells])
    return file.getvalue()
