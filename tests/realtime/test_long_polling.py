"""A request for the changes of a chat that waits for them (`?wait=`): on real connections, in a process with one thread."""

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta

import httpx
import pytest
from django.db import transaction

from actors import services as actors
from chats import services as chats
from chats.models import Chat
from config import asgi
from config.asgi import Application
from realtime import long_polling
from realtime.db_executor import run_in_db_thread
from server import limits
from tests.people import make_operator
from tests.realtime.test_socket import post
from tests.serving import serve
from workspaces import services as workspaces


class Process:
    """A web process on the event loop of the test, with one thread for requests."""

    def __init__(self, server, polling):
        self.server = server
        self.polling = polling
        self.url = f"http://127.0.0.1:{server.config.port}/api/v1/"

    def open_client(self, token):
        return httpx.AsyncClient(base_url=self.url, headers={"Authorization": f"Bearer {token}"}, timeout=60)

    async def wait_for_waiting(self, count):
        """Wait until so many requests wait."""
        async with asyncio.timeout(60):
            while self.polling._waiting.total() != count:
                await asyncio.sleep(0.01)


@pytest.fixture
async def process(settings):
    settings.WEB_THREADS = 1
    application = Application()
    async with serve(application) as server:
        yield Process(server, application._http)
    await asyncio.get_running_loop().run_in_executor(None, application._bridge.close)


@pytest.fixture
def tokens(team):
    with transaction.atomic():
        return {who: actors.create_token(team[who], name="P", days=1)[1] for who in ("alice", "bob", "charlie")}


@pytest.fixture
def elsewhere(team, monkeypatch):
    """A chat of Charlie in another workspace. Both workspaces are old enough to have shares of their own."""
    monkeypatch.setattr(asgi, "NEW_WORKSPACE_AGE", timedelta(0))
    with transaction.atomic():
        return chats.create_chat(team.charlie, team.elsewhere.id, title="Elsewhere")


async def build_path(chat, wait=30):
    version = await run_in_db_thread(lambda: Chat.objects.get(pk=chat.pk).version)
    return f"chats/{chat.pk}/changes?since={version}&wait={wait}"


@asynccontextmanager
async def start_waiting(process, token, chat, count=1, wait=30, already=0):
    """Send requests that wait for the next change of the chat, and yield their tasks when all wait. `already`: others that wait."""
    path = await build_path(chat, wait)
    async with process.open_client(token) as client:
        tasks = [asyncio.create_task(client.get(path)) for _ in range(count)]
        await process.wait_for_waiting(already + count)
        yield tasks


async def test_waiting_requests_are_answered_by_a_change_and_occupy_no_thread(team, process, tokens):
    async with start_waiting(process, tokens["alice"], team.chat, count=5) as tasks:
        async with process.open_client(tokens["bob"]) as client:
            assert (await client.get("me")).status_code == 200
        assert not any(task.done() for task in tasks)
        message = await run_in_db_thread(post, team.chat, team.bob, "hello")
        answers = await asyncio.wait_for(asyncio.gather(*tasks), 20)  # before the end of the wait
    assert [answer.status_code for answer in answers] == [200] * 5
    for answer in answers:
        assert answer.json()["snapshot"] is False
        assert str(message.pk) in [row["id"] for row in answer.json()["rows"]]
    await process.wait_for_waiting(0)
    assert not process.polling._listener._waiting
    assert process.polling._listener._task is None


@pytest.mark.parametrize("wait", [0, 1])
async def test_without_a_change_the_answer_is_204_at_the_end(team, process, tokens, wait):
    async with process.open_client(tokens["alice"]) as client:
        answer = await client.get(await build_path(team.chat, wait))
    assert (answer.status_code, answer.content) == (204, b"")


async def test_what_cannot_be_waited_for_is_answered_at_once(team, process, tokens):
    async with process.open_client(tokens["alice"]) as client:
        path = f"chats/{team.chat.pk}/changes"
        for query in ("wait=30", "wait=30&since=0", "since=1"):  # there is something to send
            assert (await client.get(f"{path}?{query}")).status_code == 200, query
        for query in ("wait=31", "wait=-1", "wait=x", "wait=1.0", "wait=1&wait=2"):
            assert (await client.get(f"{path}?since=1&{query}")).status_code == 400, query


async def test_whoever_may_not_see_the_chat_does_not_wait(team, process, tokens):
    async with process.open_client(tokens["charlie"]) as client:
        assert (await client.get(await build_path(team.chat))).status_code == 404
    async with start_waiting(process, tokens["bob"], team.chat) as tasks:
        await run_in_db_thread(chats.remove_participant, team.alice, team.chat.pk, team.bob.pk)
        assert (await asyncio.wait_for(tasks[0], 20)).status_code == 404


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (lambda team: workspaces.delete_workspace(team.alice, team.workspace.pk, name="Lighthouse"), 404),
        (lambda team: workspaces.remove_member(team.alice, team.workspace.pk, team.bob.pk), 404),
        (lambda team: actors.deactivate_person(make_operator(), team.bob.pk), 401),
        (lambda team: actors.revoke_tokens(team.bob, team.bob.pk), 401),
    ],
    ids=["workspace deleted", "member removed", "account closed", "token revoked"],
)
async def test_a_request_whose_right_ends_is_answered_at_once(team, elsewhere, process, tokens, end, status):
    async with (
        start_waiting(process, tokens["charlie"], elsewhere) as others,
        start_waiting(process, tokens["bob"], team.chat, already=1) as tasks,
    ):
        await run_in_db_thread(end, team)
        assert (await asyncio.wait_for(tasks[0], 10)).status_code == status  # long before the end of the wait
        assert not others[0].done()


async def test_a_request_waits_no_longer_when_its_client_has_gone(team, process, tokens):
    async with start_waiting(process, tokens["alice"], team.chat) as tasks:
        tasks[0].cancel()
        await process.wait_for_waiting(0)


async def test_waiting_requests_are_answered_when_the_process_stops(team, process, tokens):
    async with start_waiting(process, tokens["alice"], team.chat) as tasks:
        process.server.should_exit = True
        assert (await asyncio.wait_for(tasks[0], 8)).status_code == 204  # before requests are aborted


@pytest.mark.parametrize(
    ("limit", "status", "refused"),
    [
        ("MAX_LONG_POLLS_OF_CALLER", 429, {"alice"}),
        ("MAX_LONG_POLLS_OF_GROUP", 503, {"alice", "bob"}),
        ("MAX_LONG_POLLS", 503, {"alice", "bob", "charlie"}),
    ],
)
async def test_more_requests_than_the_limit_are_refused(
    team, elsewhere, process, tokens, monkeypatch, limit, status, refused
):
    monkeypatch.setattr(limits, limit, 1)
    async with start_waiting(process, tokens["alice"], team.chat) as tasks:
        for who, chat in (("alice", team.chat), ("bob", team.chat), ("charlie", elsewhere)):
            async with process.open_client(tokens[who]) as client:
                path, headers = await build_path(chat, wait=1), {"X-Request-Id": "poll-12345678"}
                answer = await client.get(path, headers=headers)
            assert answer.status_code == (status if who in refused else 204), who
            if who in refused:
                assert answer.headers["Retry-After"]
                assert answer.headers.get_list("X-Request-Id") == ["poll-12345678"]
                assert answer.json()["error"]["hints"]
        assert not tasks[0].done()


async def test_a_hundred_requests_of_a_person_leave_room_for_those_of_others(team, elsewhere, process, tokens):
    async with (
        process.open_client(tokens["alice"]) as alice,
        start_waiting(process, tokens["charlie"], elsewhere) as others,
    ):
        path = await build_path(team.chat)
        tasks = [asyncio.create_task(alice.get(path)) for _ in range(100)]
        while sum(task.done() for task in tasks) < 100 - limits.MAX_LONG_POLLS_OF_CALLER:
            await asyncio.wait([task for task in tasks if not task.done()], return_when=asyncio.FIRST_COMPLETED)
        assert {task.result().status_code for task in tasks if task.done()} == {429}
        async with start_waiting(process, tokens["bob"], team.chat, already=21) as colleagues:
            await run_in_db_thread(post, team.chat, team.bob, "hello")
            assert (await asyncio.wait_for(colleagues[0], 20)).status_code == 200
        await run_in_db_thread(post, elsewhere, team.charlie, "hello")
        assert (await asyncio.wait_for(others[0], 20)).status_code == 200
        answers = await asyncio.wait_for(asyncio.gather(*tasks), 20)
    assert [answer.status_code for answer in answers].count(200) == limits.MAX_LONG_POLLS_OF_CALLER


async def test_without_redis_the_wait_is_short(team, process, tokens, settings, monkeypatch):
    monkeypatch.setattr(long_polling, "WAIT_WITHOUT_REDIS_SECONDS", 0.1)
    layer = settings.CHANNEL_LAYERS["default"]
    nowhere = {"address": "redis://127.0.0.1:1", "socket_timeout": None}
    settings.CHANNEL_LAYERS = {"default": layer | {"CONFIG": layer["CONFIG"] | {"hosts": [nowhere]}}}
    async with start_waiting(process, tokens["alice"], team.chat) as tasks:
        assert (await asyncio.wait_for(tasks[0], 10)).status_code == 204
