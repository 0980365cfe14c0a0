"""`python -m bench [P1 P2 …] [--quick]`: measure the rows, print the tables, and save them in RESULTS.md.

With `--quick` the measurements are short, and are printed but not saved.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence

from bench import (
    abuse,
    browser,
    first_words,
    lists,
    long_chats,
    reconnects,
    results,
    sockets,
    start,
    streams,
    traffic,
    trees,
)
from bench.installation import Installation, open_installation
from bench.results import Table
from server.serve import raise_file_limit

ON_ONE_INSTALLATION: dict[str, Callable[[Installation, bool], Table]] = {
    "P1": first_words.measure_p1,
    "P2": first_words.measure_p2,
    "P3": streams.measure_p3,
    "P4": sockets.measure_p4,
    "P5": first_words.measure_p5,
    "P7": lists.measure_p7,
    "P8": reconnects.measure_p8,
    "P9": browser.measure_p9,
    "P14": browser.measure_p14,
    "P11": trees.measure_p11,
    "P13": traffic.measure_p13,
}
ROWS = [*ON_ONE_INSTALLATION, "P6", "P10", "P15"]


def measure_rows(rows: Sequence[str], quick: bool) -> Iterator[Table]:
    """Measure the rows one after the other. P10 is first, because no other installation may run beside it."""
    if "P10" in rows:
        yield start.measure_p10(quick)
    if wanted := [row for row in ON_ONE_INSTALLATION if row in rows]:
        with open_installation() as installation:
            for row in wanted:
                yield ON_ONE_INSTALLATION[row](installation, quick)
    if "P6" in rows:
        yield long_chats.measure_p6(quick)
    if "P15" in rows:
        yield abuse.measure_p15(quick)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--quick", action="store_true", help="short measurements, printed and not saved")
    options = parser.parse_args()
    rows = options.rows or ROWS
    if unknown := set(rows) - set(ROWS):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    raise_file_limit()  # each of a thousand sockets is an open file
    command = " ".join(["python -m bench", *options.rows])
    for table in measure_rows(rows, options.quick):
        print(results.format_table(table, command), flush=True)
        if not options.quick:
            results.save_table(table, command)


if __name__ == "__main__":
    main()
