"""A running engine beside a scripted model, for tests of runs."""

from collections.abc import Callable, Iterator

import pytest
import redis
from cryptography.fernet import Fernet

from llm.retry import _breakers
from runs.runtime import dispatch
from tests import invariants
from tests.chaos import REAL
from tests.order_server import OrderServer
from tests.people import Team
from tests.runs.environment import RunEnvironment
from tests.scripted_model import ScriptedModel
from tests.workers import Worker, wait_for_a_worker
from worker.engine import Engine


@pytest.fixture(scope="session")
def _scripted_model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


@pytest.fixture
def model(_scripted_model: ScriptedModel) -> ScriptedModel:
    """The scripted model, without the requests of earlier tests; all breakers are closed."""
    _scripted_model.reset()
    _breakers.clear()
    return _scripted_model


@pytest.fixture
def environment(team: Team, model: ScriptedModel, settings) -> RunEnvironment:
    """The team in its chat, with agents that use the scripted model; no worker yet."""
    settings.ALLOW_PRIVATE_HOSTS = frozenset({model.host})
    settings.RUN_LEASE, settings.RUN_HEARTBEAT, settings.SWEEP_EVERY = 3.0, 0.5, 0.5
    return RunEnvironment(team, model)


@pytest.fixture
def engine(environment: RunEnvironment) -> Iterator[Engine]:
    """An engine in this process with real servers and without Celery: tests and the sweeper submit runs to it."""
    engine = Engine()
    engine.start()
    environment.engine = engine
    yield engine
    engine.stop()


@pytest.fixture
def receiving_engine(engine: Engine, settings) -> Engine:
    """The engine, which also receives the runs that are sent to workers. Without it, runs that no test submits wait for the
    sweeper, which takes a second or more for each."""
    redis.from_url(settings.REDIS_URL).delete(dispatch.QUEUE)
    engine.run_soon(engine.receive_runs, name="receiver of runs")
    return engine


SHORT = {} if REAL else {"RUN_LEASE": "3", "RUN_HEARTBEAT": "0.7", "SWEEP_EVERY": "0.7", "DATABASE_POOL": "6"}


@pytest.fixture
def start_worker(environment: RunEnvironment, settings) -> Iterator[Callable[..., Worker]]:
    """Return a function that starts real workers with short leases. They end with the test."""
    settings.SECRET_KEY = "of this test's own, and long enough to be taken for a real one"
    settings.SECRET_KEYS = [Fernet.generate_key().decode()]
    workers: list[Worker] = []

    def start(**variables: str) -> Worker:
        workers.append(Worker(**(SHORT | variables)))
        return wait_for_a_worker(workers[-1])

    yield start
    for worker in workers:
        worker.close()
    invariants.check()


@pytest.fixture
def order_server() -> Iterator[OrderServer]:
    order_server = OrderServer()
    yield order_server
    order_server.close()
