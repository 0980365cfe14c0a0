"""An installation is ready if the database, Redis and a worker answer and the process is warm."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from server.health import Health, LivenessFile, ProbeResponder, build_probe_client, has_answering_worker


class SentEvents(list[Any]):
    async def __call__(self, event: Any) -> None:
        self.append(event)

    @property
    def answer(self) -> tuple[int, dict[str, bool]]:
        return self[0]["status"], json.loads(self[1]["body"])


async def test_healthz_reports_that_the_process_is_up_whatever_else_is_down() -> None:
    sent = SentEvents()
    await Health().answer("/healthz", sent)
    assert sent.answer == (200, {"up": True})


@pytest.mark.django_db(transaction=True)
async def test_readyz_names_the_missing_parts() -> None:
    sent = SentEvents()
    await Health().answer("/readyz", sent)
    assert sent.answer == (503, {"warm": False, "database": True, "redis": True, "worker": False})


@pytest.mark.django_db(transaction=True)
async def test_readyz_is_200_when_all_parts_answer() -> None:
    probes = ProbeResponder(is_healthy=lambda: True)
    probes.start()
    health = Health()
    health.is_warm = True
    try:
        probes.listening.wait(60)
        sent = SentEvents()
        await health.answer("/readyz", sent)
    finally:
        probes.stop()
    assert sent.answer == (200, {"warm": True, "database": True, "redis": True, "worker": True})


def test_an_unhealthy_worker_does_not_answer() -> None:
    probes = ProbeResponder(is_healthy=lambda: False)
    probes.start()
    try:
        probes.listening.wait(60)
        assert not has_answering_worker(build_probe_client())
    finally:
        probes.stop()


def test_a_stopped_worker_does_not_answer() -> None:
    probes = ProbeResponder(is_healthy=lambda: True)
    probes.start()
    probes.listening.wait(60)
    assert has_answering_worker(build_probe_client())
    probes.stop()
    assert not has_answering_worker(build_probe_client())


def teardown_module() -> None:
    connections.close_all()


async def test_FAIR7_concurrent_requests_share_one_check(monkeypatch: pytest.MonkeyPatch) -> None:
    health, checks = Health(), list[int]()

    def count_check() -> dict[str, bool]:
        checks.append(1)
        return {"database": True}

    monkeypatch.setattr(health, "_check", count_check)
    probes = [SentEvents() for _ in range(100)]
    await asyncio.gather(*(health.answer("/readyz", sent) for sent in probes))
    await health.answer("/readyz", probes[0])
    assert {sent.answer[0] for sent in probes} == {503}
    assert len(checks) == 1
    health._clear_cache()
    await health.answer("/readyz", SentEvents())
    assert len(checks) == 2


def test_a_healthy_worker_touches_its_file(tmp_path: Path) -> None:
    touched = threading.Event()

    def is_healthy() -> bool:
        # The second check comes after the first touch.
        if (tmp_path / "alive").exists():
            touched.set()
        return True

    alive = LivenessFile(tmp_path / "alive", is_healthy, interval=0.01)
    alive.start()
    try:
        assert touched.wait(60)
    finally:
        alive.stop()


def test_an_unhealthy_worker_does_not_touch_its_file(tmp_path: Path) -> None:
    LivenessFile(tmp_path / "alive", is_healthy=lambda: False).touch_if_healthy()
    assert not (tmp_path / "alive").exists()


def test_a_worker_whose_file_cannot_be_written_continues(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    LivenessFile(tmp_path / "missing" / "alive", is_healthy=lambda: True).touch_if_healthy()
    assert "cannot be written" in caplog.text
