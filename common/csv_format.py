"""CSV for spreadsheets."""

import csv
import io
import re
from collections.abc import Iterable, Sequence

# Where a cell begins in a spreadsheet that separates cells by another character than we do, or reads a line break as a new row.
FORMULA_BEGINNING = re.compile(r"(?:^|[;,|\t\r\n])(?=[\s\"]*[=+\-@＝＋－＠])|^(?=[\t\r\n])")
BYTE_ORDER_MARK = "\ufeff"
"""With it, spreadsheets read UTF-8."""


def format_csv(columns: Sequence[str], rows: Iterable[Sequence[str | int]]) -> str:
    """Return the rows as CSV. What a spreadsheet would execute as a formula gets an apostrophe before it, whichever character
    separates the cells there."""
    file = io.StringIO()
    file.write(BYTE_ORDER_MARK)
    writer = csv.writer(file)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([FORMULA_BEGINNING.sub(r"\g<0>'", cell) if isinstance(cell, str) else cell for cell in row])
    return file.getvalue()
