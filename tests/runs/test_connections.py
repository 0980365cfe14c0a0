"""RUN8: the database connections of a web process with many sockets and a worker with many runs, as PostgreSQL counts them."""

import asyncio

import aiohttp
import pytest
from django.db import connection, transaction

from chats import services as chats
from events.rows import Role
from runs.models import Run
from tests.chaos import IS_CHAOS, report
from tests.people import make_person
from tests.serving import run_web_process
from workspaces import services as workspaces

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]

SOCKETS, RUNS = (1000, 50) if IS_CHAOS else (200, 10)
OF_ONE = 20
"""Sockets that one person may have."""


def count_connections() -> tuple[int, int]:
    """Return how many connections the database has, and how many PostgreSQL takes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), current_setting('max_connections')::int FROM pg_stat_activity "
            "WHERE backend_type = 'client backend'"
        )
        used, ceiling = cursor.fetchone()
    return used, ceiling


def test_RUN8_sockets_and_runs_leave_connections_to_postgres_free(environment, start_worker):
    team, most = environment.team, []
    with transaction.atomic():
        people = [make_person(f"P{number}") for number in range(SOCKETS // OF_ONE)]
        for person in people:
            workspaces.join_workspace(person, team.workspace.id, role=Role.SUGGESTER, invited_by=team.alice)
        opened_chats = [
            chats.create_chat(person, team.workspace.id, title="", actor_ids=[team.robin.id, people[0].id])
            for person in (people * RUNS)[:RUNS]
        ]
    environment.model.script(mode="drip", count=400, every=0.02)
    start_worker(DATABASE_POOL="8", RUNS_PER_WORKSPACE="100")
    with run_web_process() as web:

        async def follow(session, person, token):
            socket = await session.ws_connect(f"{web.url}/ws/", headers={"X-Session-Token": token}, origin=web.url)
            await socket.send_json({"type": "subscribe", "topic": f"actor:{person.id}", "since": None})
            assert (await socket.receive_json(timeout=60))["type"] == "subscribed"

        async def follow_all(tokens):
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
                joining = asyncio.gather(
                    *[follow(session, person, token) for person, token in tokens for _ in range(OF_ONE)]
                )
                while not joining.done():
                    most.append(await asyncio.to_thread(record_counts))
                    await asyncio.sleep(0.1)
                await joining
                await asyncio.to_thread(post_messages)
                for _ in range(20):
                    most.append(await asyncio.to_thread(record_counts))
                    await asyncio.sleep(0.1)

        def record_counts():
            try:
                return count_connections()
            finally:
                connection.close()

        def post_messages():
            try:
                for chat, person in zip(opened_chats, people * RUNS, strict=False):
                    environment.post("hello", chat=chat, by=person)
                environment.wait(lambda: len(environment.model.requests) >= RUNS, 60)
            finally:
                connection.close()

        asyncio.run(follow_all([(person, web.sign_in(person)) for person in people]))
    ceiling = most[0][1]
    used = max(count for count, _ in most)
    report(f"{SOCKETS} sockets, {RUNS} runs: {used} of {ceiling} connections")
    assert used < 0.6 * ceiling
    environment.model.reset()
    Run.objects.update(stop_requested_at="2026-01-01T00:00Z")
    environment.wait_until_idle(30)
