"""Lookups have a time limit, and a tenant whose name server never answers delays only itself (FAIR2)."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from common import dns
from common.dns import THREADS, resolve_host
from common.ids import new_id
from common.tenants import set_current_tenant


class SlowDns:
    """A name server that answers for `slow.…` only when `released` is set."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.released = threading.Event()
        self.asked: list[str] = []
        patch.setattr(socket, "getaddrinfo", self.getaddrinfo)

    def getaddrinfo(self, host: str, *args: Any) -> Any:
        self.asked.append(host)
        if host.startswith("slow."):
            self.released.wait(20)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 443))]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowDns]:
    monkeypatch.setattr(dns, "LOOKUP_SECONDS", 0.2)
    slow = SlowDns(monkeypatch)
    yield slow
    slow.released.set()


async def test_FAIR2_a_lookup_without_an_answer_fails_in_time(names: SlowDns) -> None:
    with pytest.raises(socket.gaierror) as error:
        await resolve_host("slow.example.com", 443)
    assert error.value.errno == socket.EAI_AGAIN


async def test_FAIR2_slow_lookups_of_a_tenant_use_only_its_own_threads(names: SlowDns) -> None:
    slow_tenant = new_id(), new_id()
    with set_current_tenant(*slow_tenant):
        asked = [resolve_host(f"slow.{number}.example.com", 443) for number in range(THREADS)]
        results = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(result, socket.gaierror) for result in results)
        # An abandoned lookup keeps its thread until it ends, so not even a good name is looked up.
        with pytest.raises(socket.gaierror):
            await resolve_host("good.example.com", 443)
    assert len(names.asked) == THREADS // 8
    with set_current_tenant(new_id(), new_id()):
        assert await resolve_host("good.example.com", 443)
    names.released.set()
    with set_current_tenant(*slow_tenant):
        assert await resolve_host("good.example.com", 443)
