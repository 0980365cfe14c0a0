"""RUN4, MSG3: Redis is killed and restarted: no request fails, sockets stay open, and no row is missing."""

import asyncio
import secrets
import shutil
import tempfile
from pathlib import Path

import pytest

from launcher.home import open_home
from launcher.valkey import Valkey
from realtime import hub
from realtime.db_executor import run_in_db_thread
from tests.realtime.test_continuity import numbers, wait_for_text
from tests.realtime.test_socket import post, texts


@pytest.fixture
def own_valkey(settings):
    home = open_home(Path(tempfile.mkdtemp(prefix="atelier-test-")))
    log = (home / "valkey.log").open("wb")
    valkey = Valkey(home, secrets.token_hex(16), durable=False, output=log)
    valkey.start()
    settings.REDIS_URL = valkey.url
    layer = settings.CHANNEL_LAYERS["default"]
    hosts = [{"address": valkey.url, "max_connections": 4000, "socket_timeout": None}]
    settings.CHANNEL_LAYERS = {"default": layer | {"CONFIG": layer["CONFIG"] | {"hosts": hosts}}}
    yield valkey
    valkey.stop()
    log.close()
    shutil.rmtree(home, ignore_errors=True)


async def test_MSG3_redis_is_killed_and_comes_back(team, own_valkey, tabs, quick, monkeypatch):
    monkeypatch.setattr(hub, "JOIN_TIMEOUT", 0.2)
    topic = f"chat:{team.chat.id}"
    alice = await tabs.open_tab(team.alice)
    await alice.subscribe(topic)
    await run_in_db_thread(post, team.chat, team.bob, "number 0")
    await wait_for_text(alice, "number 0")

    own_valkey.child.kill()
    own_valkey.child.wait()
    for text in numbers(3, 1):
        await run_in_db_thread(post, team.chat, team.bob, text)
    await wait_for_text(alice, "number 3")
    bob = await tabs.open_tab(team.bob)
    assert "number 3" in str(await bob.subscribe(topic))

    own_valkey.start()
    for text in numbers(3, 4):
        await run_in_db_thread(post, team.chat, team.bob, text)
    for tab in (alice, bob):
        await wait_for_text(tab, "number 6")
    assert texts(alice) == numbers(7)

    # Frames are received again, and not only read after heartbeats.
    reads = []
    await asyncio.sleep(3)
    monkeypatch.setattr(hub, "catch_up", lambda *args: reads.append(args))
    await run_in_db_thread(post, team.chat, team.bob, "number 7")
    for tab in (alice, bob):
        await wait_for_text(tab, "number 7")
    assert not reads
