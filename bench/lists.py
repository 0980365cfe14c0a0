"""P7: the lists of a person in many chats, beside the same statements and JSON in a bare Django view.

`python -m bench.lists ROUNDS` runs beside an installation, with the environment of its web process, and prints its figures as
JSON. Both views run in that one process, without a socket, so that only our code is compared.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from bench.installation import Installation
from bench.processes import read_environment
from bench.results import Figure, Table
from launcher.home import ROOT

CHATS, AGENTS, PEOPLE, LINES = 200, 50, 20, 30


def measure_p7(installation: Installation, quick: bool) -> Table:
    """Measure each list, including the sidebar."""
    environment = read_environment(installation.stack.processes()["web"])
    command = [sys.executable, "-m", "bench.lists", "10" if quick else "60"]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
    found = [
        Figure(
            f"{name} ({one['rows']} rows, {one['statements']} statements)",
            f"{one['bare']:.1f} ms",
            f"{one['ours']:.1f} ms",
            f"{one['ours'] / one['bare']:.2f}",
            f"{one['cpu']:.1f} ms of Python",
            "≤ 2" if name == "the sidebar" else "≤ 4",
        )
        for name, one in json.loads(done.stdout).items()
    ]
    how = f"A person in {CHATS} chats with {LINES} unread lines each, {AGENTS} agents, {PEOPLE} people; pages of 100."
    return Table("P7", "Lists", f"{how} The floor: the same statements, and their rows as JSON, in a bare view.", found)


def main(rounds: int) -> None:
    from config.wsgi import application as ours  # sets Django up: first  # isort: skip

    from django.conf import settings

    from bench.lists_made import BareView, create_rows, request_body

    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    cookie, paths = create_rows(CHATS, AGENTS, PEOPLE, LINES)
    bare = BareView()
    figures = {}
    for name, path in paths.items():
        statements, rows = bare.record(lambda path=path: request_body(ours, path, cookie))
        figures[name] = {"rows": rows, "statements": statements} | compare(
            lambda path=path: request_body(ours, path, cookie),
            lambda path=path: request_body(bare, path, cookie),
            rounds,
        )
    print(json.dumps(figures))


def compare(ours: Callable[[], Any], bare: Callable[[], Any], rounds: int) -> Mapping[str, float]:
    """Return the median milliseconds of each, called in turns."""
    times: dict[str, list[float]] = {"ours": [], "bare": [], "cpu": []}
    for _ in range(rounds):
        began, cpu = time.perf_counter(), time.thread_time()
        ours()
        between = time.perf_counter()
        times["cpu"].append(time.thread_time() - cpu)
        times["ours"].append(between - began)
        bare()
        times["bare"].append(time.perf_counter() - between)
    return {name: sorted(values)[len(values) // 2] * 1000 for name, values in times.items()}


if __name__ == "__main__":
    main(int(sys.argv[1]))
