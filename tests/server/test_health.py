"""Ready means: the database, Redis and a worker answer, and the process is warm."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from server.health import Health, LivenessFile, ProbeResponder, build_probe_client, has_answering_worker


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
    probes = ProbeResponder(is_well=lambda: True)
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
    probes = ProbeResponder(is_well=lambda: False)
    probes.start()
    try:
        probes.listening.wait(5)
        assert not has_answering_worker(build_probe_client())
    finally:
        probes.stop()


def test_a_worker_that_is_gone_does_not_answer() -> None:
    probes = ProbeResponder(is_well=lambda: True)
    probes.start()
    probes.listening.wait(5)
    assert has_answering_worker(build_probe_client())
    probes.stop()
    assert not has_answering_worker(build_probe_client())


def teardown_module() -> None:
    connections.close_all()


async def test_FAIR7_whoever_asks_meanwhile_shares_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    health, looks = Health(), list[int]()

    def look() -> dict[str, bool]:
        looks.append(1)
        return {"database": True}

    monkeypatch.setattr(health, "_check", look)
    probes = [Sent() for _ in range(100)]
    await asyncio.gather(*(health.answer("/readyz", sent) for sent in probes))
    await health.answer("/readyz", probes[0])
    assert {sent.answer[0] for sent in probes} == {503}
    assert len(looks) == 1
    health._forget()
    await health.answer("/readyz", Sent())
    assert len(looks) == 2


def test_a_worker_that_is_well_touches_its_file(tmp_path: Path) -> None:
    touched = threading.Event()

    def is_well() -> bool:
        # The second look comes after the first touch.
        if (tmp_path / "alive").exists():
            touched.set()
        return True

    alive = LivenessFile(tmp_path / "alive", is_well, interval=0.01)
    alive.start()
    try:
        assert touched.wait(30)
    finally:
        alive.stop()


def test_a_worker_that_is_not_well_touches_nothing(tmp_path: Path) -> None:
    LivenessFile(tmp_path / "alive", is_well=lambda: False).touch_if_well()
    assert not (tmp_path / "alive").exists()


def test_a_worker_whose_file_cannot_be_written_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    LivenessFile(tmp_path / "missing" / "alive", is_well=lambda: True).touch_if_well()
    assert "cannot be written" in caplog.text
