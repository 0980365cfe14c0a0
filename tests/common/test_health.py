"""Ready means: the database, Redis and a worker answer, and the process is warm."""

import json
from typing import Any

import pytest
from django.db import connections

from config.serving.health import AnswersProbes, Health, a_worker_answers, connect


class Sent(list[Any]):
    async def __call__(self, event: Any) -> None:
        self.append(event)

    @property
    def answer(self) -> tuple[int, dict[str, bool]]:
        return self[0]["status"], json.loads(self[1]["body"])


async def test_healthz_says_that_the_process_is_up_whatever_else_is_down() -> None:
    sent = Sent()
    await Health().answer("/healthz", sent)
    assert sent.answer == (200, {"up": True})


@pytest.mark.django_db(transaction=True)
async def test_readyz_names_what_is_missing() -> None:
    sent = Sent()
    await Health().answer("/readyz", sent)
    assert sent.answer == (503, {"warm": False, "database": True, "redis": True, "worker": False})


@pytest.mark.django_db(transaction=True)
async def test_readyz_is_yes_when_everything_answers() -> None:
    probes = AnswersProbes(is_well=lambda: True)
    probes.start()
    health = Health()
    health.warm = True
    try:
        probes.listening.wait(5)
        sent = Sent()
        await health.answer("/readyz", sent)
    finally:
        probes.stop()
    assert sent.answer == (200, {"warm": True, "database": True, "redis": True, "worker": True})


def test_a_worker_that_is_not_well_does_not_answer() -> None:
    probes = AnswersProbes(is_well=lambda: False)
    probes.start()
    try:
        probes.listening.wait(5)
        assert not a_worker_answers(connect())
    finally:
        probes.stop()


def test_a_worker_that_is_gone_does_not_answer() -> None:
    probes = AnswersProbes(is_well=lambda: True)
    probes.start()
    probes.listening.wait(5)
    assert a_worker_answers(connect())
    probes.stop()
    assert not a_worker_answers(connect())


def teardown_module() -> None:
    connections.close_all()
