"""`python -m bench.scale`: how many processes an installation needs for a load, and how late its frames are (docs/scale.md).

The CPU of each unit of work is read from RESULTS.md. `count_processes` divides the work of a second by the part of a core that
may be busy. `Simulation` then lets posts, answers and frames queue in front of these processes.
"""

import heapq
import random
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count

from bench.results import FILE, get_percentile

BUSY = 0.6
"""The part of its core that a process may use on average."""
TICK = 0.1
"""Seconds between two flushes of a worker: it sends the chunks of all its runs together."""
WARM_UP, MEASURED = 2.0, 8.0
FIRST_TOKEN = 0.5
"""Seconds until a model sends the first token."""
BEFORE_MODEL = 0.6
"""The part of the work on a run that is done before the model is asked (docs/performance.md)."""
RECONNECTS_SPREAD_OVER = 30.0
"""Seconds over which the clients of a dead process come back: the longest wait of the web app."""


@dataclass(frozen=True)
class Costs:
    """Seconds of CPU per unit, on the machine of RESULTS.md.

    `frame`: reading one frame in a live process; `socket`: sending it to one socket; `reconnect`: one socket that comes back.
    """

    post_web: float
    post_postgres: float
    post_valkey: float
    run_worker: float
    run_postgres: float
    run_valkey: float
    token_worker: float
    token_valkey: float
    frame: float
    socket: float
    reconnect: float
    socket_bytes: float


@dataclass(frozen=True)
class Load:
    """What people and agents do. Each chat has `viewers` sockets; for each answered message, `others` messages wake no agent."""

    sockets: int
    runs: int
    viewers: int = 10
    others: int = 1
    answer_seconds: float = 20.0
    tokens_per_second: float = 25.0

    @property
    def answers_per_second(self) -> float:
        """The answers that begin in a second while `runs` are written."""
        return self.runs / (self.answer_seconds + FIRST_TOKEN)


@dataclass(frozen=True)
class Processes:
    """The number of processes, or of cores, of each kind. `live`: web processes that only serve sockets."""

    web: int
    live: int
    worker: int
    postgres: int
    valkey: int


def read_costs() -> Costs:
    """Return the costs that were measured last: P2, P3, P5, P8, P4 and P13."""
    text = FILE.read_text()
    rows = {part.split()[0]: part for part in re.split(r"^## ", text, flags=re.M)[1:]}

    def find(row: str, pattern: str) -> float:
        found = re.search(pattern, rows[row])
        if found is None:
            raise LookupError(f"{row} has no figure like {pattern}")
        return float(found[1])

    post = {name: find("P5", rf"per POST: .*?{name} ([\d.]+)") / 1e3 for name in ("postgres", "valkey", "web")}
    run = {
        name: find("P2", rf"per message: .*?{name} ([\d.]+)") / 1e3 for name in ("postgres", "valkey", "web", "worker")
    }
    tokens = 500
    token = {name: find("P3", rf"per token: .*?{name} ([\d.]+)") / 1e3 for name in ("valkey", "web")}
    frames_per_token = 1 / (TICK * 25)
    return Costs(
        post_web=post["web"],
        post_postgres=post["postgres"],
        post_valkey=post["valkey"],
        run_worker=run["worker"],
        run_postgres=max(run["postgres"] - post["postgres"], 0),
        run_valkey=max(run["valkey"] - post["valkey"], 0),
        token_worker=find("P3", r"while all stream \|.*?\| (\d+) µs") / 1e6,
        token_valkey=max(token["valkey"] - run["valkey"] / tokens, 0),
        frame=max(token["web"] - run["web"] / tokens, 0) / frames_per_token,
        socket=find("P13", r"CPU of web per viewer and answer \|.*?\| ([\d.]+) ms")
        / 1e3
        / find("P13", r"frames per viewer and answer \| – \| ([\d.]+)"),
        reconnect=find("P8", r"a socket, the start included: web ([\d.]+)") / 1e3,
        socket_bytes=find("P4", r"(\d+) kB a socket") * 1e3,
    )


def count_processes(load: Load, costs: Costs) -> Processes:
    """Return how many processes of each kind keep each of them below `BUSY`."""
    answers = load.answers_per_second
    posts = answers * (1 + load.others)
    tokens = load.runs * load.tokens_per_second
    deltas = load.runs / TICK
    # A frame is read by each live process that has one of the viewers: at most one for each viewer.
    frames = deltas + posts + 3 * answers

    def divide(seconds: float) -> int:
        return max(1, -int(-seconds // BUSY))

    live = divide(frames * load.viewers * costs.socket + frames * costs.frame)
    read = frames * min(live, load.viewers) * costs.frame
    return Processes(
        web=divide(posts * costs.post_web),
        live=divide(frames * load.viewers * costs.socket + read),
        worker=max(divide(answers * costs.run_worker + tokens * costs.token_worker), -(-load.runs // 200)),
        postgres=divide(posts * costs.post_postgres + answers * costs.run_postgres),
        valkey=divide(posts * costs.post_valkey + answers * costs.run_valkey + tokens * costs.token_valkey),
    )


class Station:
    """Processes of one kind. Each serves one thing after the other."""

    def __init__(self, count: int) -> None:
        self.free_at = [0.0] * count
        self.busy_seconds = 0.0

    def serve(self, now: float, seconds: float, process: int | None = None) -> float:
        """Return when the work is done that arrives now, at this process or at the first that is free."""
        if process is None:
            process = self.free_at.index(min(self.free_at))
        self.free_at[process] = done = max(now, self.free_at[process]) + seconds
        if now >= WARM_UP:
            self.busy_seconds += seconds
        return done


class Simulation:
    """Posts, answers and frames that queue in front of the processes.

    `first_words` and `frames`: the seconds from a post until a viewer has the first words of the answer (without the time of the
    model), or has the message.
    """

    def __init__(self, load: Load, processes: Processes, costs: Costs, seed: int = 1) -> None:
        self._load, self._processes, self._costs = load, processes, costs
        self._random = random.Random(seed)
        self._events: list[tuple[float, int, Callable[[float], None]]] = []
        self._number = count()
        self._stations = {kind: Station(number) for kind, number in asdict(processes).items()}
        self.first_words: list[float] = []
        self.frames: list[float] = []

    def run(self) -> None:
        """Simulate the time until `WARM_UP + MEASURED`."""
        for wakes, rate in (
            (True, self._load.answers_per_second),
            (False, self._load.answers_per_second * self._load.others),
        ):
            now = 0.0
            while rate and (now := now + self._random.expovariate(rate)) < WARM_UP + MEASURED:
                self._at(now, partial(self._post, wakes))
        for process in range(self._processes.worker):
            self._at(self._random.random() * TICK, partial(self._flush, process))
        while self._events:
            now, _, what = heapq.heappop(self._events)
            what(now)

    def get_busy_part(self, kind: str) -> float:
        """Return the part of the time that the processes of this kind were busy."""
        station = self._stations[kind]
        return station.busy_seconds / MEASURED / len(station.free_at)

    def _at(self, when: float, what: Callable[[float], None]) -> None:
        if when < WARM_UP + MEASURED:
            heapq.heappush(self._events, (when, next(self._number), what))

    def _serve(self, kind: str, now: float, seconds: float, process: int | None = None) -> float:
        return self._stations[kind].serve(now, seconds, process)

    def _post(self, wakes: bool, now: float) -> None:
        shard = self._random.randrange(self._processes.valkey)
        process = self._random.randrange(self._processes.web)
        self._at(self._serve("web", now, self._costs.post_web, process), partial(self._store, now, wakes, shard))

    def _store(self, sent: float, wakes: bool, shard: int, now: float) -> None:
        stored = self._serve("postgres", now, self._costs.post_postgres)
        self._at(stored, partial(self._send_frame, sent, self.frames, shard))
        if wakes:
            self._at(stored, partial(self._claim, sent, shard))

    def _claim(self, sent: float, shard: int, now: float) -> None:
        """Prepare the request to the model, whose answer begins after `FIRST_TOKEN`."""
        process = self._random.randrange(self._processes.worker)
        prepared = self._serve("worker", now, self._costs.run_worker * BEFORE_MODEL, process)
        asked = self._serve("postgres", prepared, self._costs.run_postgres * BEFORE_MODEL)
        self._at(asked + FIRST_TOKEN, partial(self._start_answer, sent + FIRST_TOKEN, shard, process))

    def _start_answer(self, sent: float, shard: int, process: int, now: float) -> None:
        """Send the first words. Another answer ends at the same moment: as many end as begin."""
        streamed = self._serve("worker", now, self._costs.token_worker, process)
        self._at(streamed, partial(self._send_frame, sent, self.first_words, shard))
        ended = self._serve("worker", streamed, self._costs.run_worker * (1 - BEFORE_MODEL), process)
        stored = self._serve("postgres", ended, self._costs.run_postgres * (1 - BEFORE_MODEL))
        self._at(stored, partial(self._send_frame, stored, None, shard))

    def _send_frame(self, sent: float, delays: list[float] | None, shard: int, now: float) -> None:
        """Send a frame to the viewers of one chat, who are at random live processes."""
        arrived = self._serve("valkey", now, self._costs.post_valkey / 2, shard)
        for process, viewers in Counter(self._choose_live(self._load.viewers)).items():
            self._at(arrived, partial(self._receive, sent, delays, process, viewers))

    def _receive(self, sent: float, delays: list[float] | None, process: int, viewers: int, now: float) -> None:
        done = self._serve("live", now, self._costs.frame + viewers * self._costs.socket, process)
        if delays is not None and now >= WARM_UP:
            delays.extend([done - sent] * viewers)

    def _flush(self, process: int, now: float) -> None:
        """Send what the models have written to the runs of one worker since its last flush."""
        runs = self._load.runs // self._processes.worker
        tokens = runs * self._load.tokens_per_second * TICK
        done = self._serve("worker", now, tokens * self._costs.token_worker, process)
        for shard in range(self._processes.valkey):
            self._serve("valkey", done, tokens * self._costs.token_valkey / self._processes.valkey, shard)
        frames = runs * (1 - (1 - 1 / self._processes.live) ** self._load.viewers)
        for live, sockets in Counter(self._choose_live(runs * self._load.viewers)).items():
            seconds = frames * self._costs.frame + sockets * self._costs.socket
            self._at(done, partial(self._receive_many, live, seconds))
        self._at(now + TICK, partial(self._flush, process))

    def _receive_many(self, process: int, seconds: float, now: float) -> None:
        self._serve("live", now, seconds, process)

    def _choose_live(self, viewers: int) -> list[int]:
        return self._random.choices(range(self._processes.live), k=viewers)


def format_load(load: Load, costs: Costs) -> str:
    """Return the line of a table about a load."""
    processes = count_processes(load, costs)
    simulation = Simulation(load, processes, costs)
    simulation.run()
    busiest = max(asdict(processes), key=simulation.get_busy_part)
    sockets = load.sockets / processes.live
    extra = sockets * costs.reconnect / RECONNECTS_SPREAD_OVER / max(1, processes.live - 1)
    cells = [
        f"{load.sockets:,}",
        f"{load.runs:,}",
        *map(str, asdict(processes).values()),
        f"{busiest} {simulation.get_busy_part(busiest):.0%}",
        *(
            f"{get_percentile(delays, 0.5) * 1e3:.0f} / {get_percentile(delays, 0.95) * 1e3:.0f} ms"
            for delays in (simulation.first_words, simulation.frames)
        ),
        f"{sockets:,.0f} sockets, {sockets * costs.socket_bytes / 1e6:.0f} MB; +{extra:.0%}",
    ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    costs = read_costs()
    for name, cost in asdict(costs).items():
        print(f"{name}: {cost:,.0f}" if name == "socket_bytes" else f"{name}: {cost * 1e6:,.1f} µs")
    print(
        "\n| sockets | runs | web | live | worker | postgres | valkey | busiest | first words | a message | a live process |"
    )
    print("|---" * 11 + "|")
    for load in (Load(1_000, 100), Load(10_000, 1_000), Load(100_000, 10_000)):
        print(format_load(load, costs))


if __name__ == "__main__":
    main()
