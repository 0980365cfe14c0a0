"""`python -m bench [P1 P2 …] [--quick] [--messages N] [--compare OTHER]`: measure the rows, print the tables, and save them in
RESULTS.md.

With `--compare`, P1 or P2 is measured of this checkout and of another one, or with another setting, by turns; nothing is saved.
With `--quick` the measurements are short, and are printed but not saved. `--messages` is the length of the long chat of P6, and of
each chat of the small workspace of P12.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence

from bench import (
    abuse,
    boards,
    browser,
    comparison,
    first_words,
    growth,
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
    "P18": browser.measure_p18,
    "P11": trees.measure_p11,
    "P13": traffic.measure_p13,
    "P16": boards.measure_p16,
}
WITH_MESSAGES: dict[str, Callable[[Installation, bool, int | None], Table]] = {
    "P6": long_chats.measure_p6,
    "P12": growth.measure_p12,
}
"""These rows have an installation each: what they have created would slow down the others."""
ROWS = [*ON_ONE_INSTALLATION, *WITH_MESSAGES, "P10", "P15"]


def measure_rows(rows: Sequence[str], quick: bool, messages: int | None = None) -> Iterator[Table]:
    """Measure the rows one after the other. P10 is first, because no other installation may run beside it."""
    if "P10" in rows:
        yield start.measure_p10(quick)
    if wanted := [row for row in ON_ONE_INSTALLATION if row in rows]:
        with open_installation() as installation:
            for row in wanted:
                yield ON_ONE_INSTALLATION[row](installation, quick)
    for row in WITH_MESSAGES:
        if row in rows:
            with open_installation() as installation:
                yield WITH_MESSAGES[row](installation, quick, messages)
    if "P15" in rows:
        yield abuse.measure_p15(quick)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--quick", action="store_true", help="short measurements, printed and not saved")
    parser.add_argument("--messages", type=int, metavar="N", help="messages of the chats of P6 and P12")
    parser.add_argument(
        "--compare", metavar="OTHER", help="P1 or P2 by turns with a setting NAME=VALUE, or another checkout"
    )
    options = parser.parse_args()
    rows = options.rows or ROWS
    if unknown := set(rows) - set(ROWS):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    raise_file_limit()  # each of a thousand sockets is an open file
    if options.compare:
        for row in options.rows or ["P1"]:
            table = comparison.measure_comparison(row, options.compare, options.quick)
            print(results.format_table(table, f"python -m bench {row} --compare …"), flush=True)
        return
    size = [f"--messages {options.messages}"] if options.messages else []
    command = " ".join(["python -m bench", *options.rows, *size])
    for table in measure_rows(rows, options.quick, options.messages):
        print(results.format_table(table, command), flush=True)
        if not options.quick:
            results.save_table(table, command)


if __name__ == "__main__":
    main()
