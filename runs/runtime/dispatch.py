"""Send the Celery task that makes a worker claim a queued run, or several queued runs of one caller.

The task may be lost, late or sent twice: the run's row is the truth, and the sweeper finds a run that no task reached.
"""

import threading
from collections.abc import Iterable, Sequence
from uuid import UUID, uuid4

from celery import current_app
from django.db import transaction
from kombu import Producer
from kombu.exceptions import KombuError

from common.redis_client import redis_client
from common.tasks import FAIL_FAST_OPTIONS
from runs.models import Run, RunState

QUEUE = "runs"
TASK = "worker.tasks.run_agent"


def dispatch_run(run: Run) -> None:
    """Send the task of a new run on commit, if the run was inserted: it is not if its key has a queued run in its chat."""
    transaction.on_commit(lambda: run.is_stored and send_run_tasks([run.id]), robust=True)


def dispatch_siblings(runs: Sequence[Run]) -> None:
    """Send one task for the new runs of one caller or board on commit, so that a worker claims them together."""

    def send() -> None:
        if ids := [run.id for run in runs if run.is_stored]:
            _send([ids])

    if runs:
        transaction.on_commit(send, robust=True)


def dispatch_next_run(concurrency_key: str) -> None:
    """Send the task of the queued run of this concurrency key on commit, if there is one."""
    queued = Run.objects.filter(concurrency_key=concurrency_key, state=RunState.QUEUED)
    transaction.on_commit(lambda: send_run_tasks(queued.values_list("pk", flat=True)[:1]), robust=True)


def send_run_tasks(run_ids: Iterable[UUID]) -> bool:
    """Send a task for each of these runs now. Return false when Redis cannot be reached; do not raise (RUN4)."""
    return _send([[run_id] for run_id in run_ids])


def _send(tasks: Sequence[Sequence[UUID]]) -> bool:
    """Send tasks, each with the ids of its runs."""
    return not tasks or redis_client.call(lambda client: _publish(tasks), False)


def _publish(tasks: Iterable[Sequence[UUID]]) -> bool:
    """Publish the tasks with one producer per thread. It takes half of the CPU of `Task.apply_async`."""
    url = current_app.conf.broker_write_url
    try:
        if _local.url != url:
            options = current_app.conf.broker_transport_options | FAIL_FAST_OPTIONS
            _local.producer = current_app.connection_for_write(transport_options=options).Producer()
            _local.url = url
        for run_ids in tasks:
            task_id = str(uuid4())
            _local.producer.publish(
                [[str(run_id) for run_id in run_ids], {}, {}],
                exchange="",
                routing_key=QUEUE,
                serializer="json",
                headers={"lang": "py", "task": TASK, "id": task_id},
                correlation_id=task_id,
                retry=False,
            )
    except KombuError as error:
        raise ConnectionError(str(error)) from error
    return True


class _LocalProducer(threading.local):
    """The producer of this thread: producers of kombu must not be shared by threads."""

    url = ""
    producer: Producer


_local = _LocalProducer()
