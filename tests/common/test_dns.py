"""Names are looked up in bounded time, and a tenant whose name server never answers delays only itself (FAIR2)."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from common import dns
from common.dns import PER_TENANT, resolve_host
from common.tenants import on_behalf_of_tenant


class SlowNames:
    """A name server that answers for `slow.…` only when it is let go."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.go_on = threading.Event()
        self.asked: list[str] = []
        patch.setattr(socket, "getaddrinfo", self.getaddrinfo)

    def getaddrinfo(self, host: str, *args: Any) -> Any:
        self.asked.append(host)
        if host.startswith("slow."):
            self.go_on.wait(20)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 443))]


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowNames]:
    monkeypatch.setattr(dns, "LOOKUP_SECONDS", 0.2)
    slow = SlowNames(monkeypatch)
    yield slow
    slow.go_on.set()


async def test_FAIR2_a_name_that_is_not_answered_is_given_up(names: SlowNames) -> None:
    with pytest.raises(socket.gaierror) as error:
        await resolve_host("slow.example.com", 443)
    assert error.value.errno == socket.EAI_AGAIN


async def test_FAIR2_a_tenant_with_slow_names_takes_its_own_slots_only(names: SlowNames) -> None:
    with on_behalf_of_tenant("slow"):
        asked = [resolve_host(f"slow.{number}.example.com", 443) for number in range(3 * PER_TENANT)]
        results = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(result, socket.gaierror) for result in results)
        # What was given up keeps its slot until it ends: not even a good name is asked for.
        with pytest.raises(socket.gaierror):
            await resolve_host("good.example.com", 443)
    assert len(names.asked) == PER_TENANT
    with on_behalf_of_tenant("other"):
        assert await resolve_host("good.example.com", 443)
    names.go_on.set()
    with on_behalf_of_tenant("slow"):
        assert await resolve_host("good.example.com", 443)
