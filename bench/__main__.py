"""`python -m bench [P1 P2 …] [--quick]`: measure, print, and keep the tables in RESULTS.md.

`--quick` is a short trial: it is printed and not kept.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence

from bench import abuse, browser, first_words, lists, reconnects, results, sockets, start, streams, traffic
from bench.installation import Installation, open_installation
from bench.results import Table
from server.serve import raise_file_limit

IN_A_HOUSE: dict[str, Callable[[Installation, bool], Table]] = {
    "P1": first_words.p1,
    "P2": first_words.p2,
    "P3": streams.p3,
    "P4": sockets.p4,
    "P5": first_words.p5,
    "P7": lists.p7,
    "P8": reconnects.p8,
    "P9": browser.p9,
    "P14": browser.p14,
    "P13": traffic.p13,
}
ROWS = [*IN_A_HOUSE, "P10", "P15"]


def tables(rows: Sequence[str], quick: bool) -> Iterator[Table]:
    """Measure one after the other. The start comes first: nothing else of ours runs then."""
    if "P10" in rows:
        yield start.p10(quick)
    if wanted := [row for row in IN_A_HOUSE if row in rows]:
        with open_installation() as installation:
            for row in wanted:
                yield IN_A_HOUSE[row](installation, quick)
    if "P15" in rows:
        yield abuse.p15(quick)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(ROWS))
    parser.add_argument("--quick", action="store_true", help="a short trial, printed and not kept")
    options = parser.parse_args()
    rows = options.rows or ROWS
    if unknown := set(rows) - set(ROWS):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    raise_file_limit()  # a thousand sockets of ours are as many files
    command = " ".join(["python -m bench", *options.rows])
    for table in tables(rows, options.quick):
        print(results.lines(table, command), flush=True)
        if not options.quick:
            results.keep(table, command)


if __name__ == "__main__":
    main()
