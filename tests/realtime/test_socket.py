"""The socket: handshakes, subscriptions, frames, limits and refusals."""

import json
import time
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction

from agents.services import drafts
from agents.specs.content import SpecContent
from chats import services as chats
from common.ids import new_id
from realtime import hub, topic_buffer
from realtime.catchup import catch_up
from realtime.db_executor import run_in_db_thread
from realtime.hub import get_hub
from server import limits
from tests.realtime.tab import create_session_key


def post(chat, author, text):
    with transaction.atomic():
        return chats.post_message(author, chat.id, text=text, wake="nobody")[0]


def texts(tab):
    return [
        row["payload"]["text"]
        for frame in tab.received
        if frame["type"] in ("subscribed", "changes")
        for row in frame["rows"]
        if row["kind"] == "message" and row["type"] == "TEXT_MESSAGE"
    ]


async def test_a_message_reaches_the_others_in_order(team, tabs):
    topic = f"chat:{team.chat.id}"
    alice, bob = await tabs.open_tab(team.alice), await tabs.open_tab(team.bob)
    answer = await alice.subscribe(topic)
    await bob.subscribe(topic)
    assert answer["snapshot"] is True
    assert {row["kind"] for row in answer["rows"]} == {"chat", "participant", "message"}
    for number in range(5):
        await run_in_db_thread(post, team.chat, team.alice, f"number {number}")
    for tab in (alice, bob):
        await tab.receive_until(lambda frame: "number 4" in json.dumps(frame))
        assert texts(tab) == [f"number {number}" for number in range(5)]


async def test_a_read_cursor_is_sent_only_to_its_person(team, tabs):
    alice, bob = await tabs.open_tab(team.alice), await tabs.open_tab(team.bob)
    await alice.subscribe(f"actor:{team.alice.id}")
    await bob.subscribe(f"workspace:{team.workspace.id}")
    await run_in_db_thread(chats.mark_read, team.alice, team.chat.id, seq=2)
    assert (await alice.receive_type("chat_activity"))["last_read_seq"] == 2
    assert await bob.is_silent()


async def test_SEC4_an_outsider_gets_no_frames_of_a_chat_and_no_information_about_it(team, tabs):
    charlie = await tabs.open_tab(team.charlie)
    answers = [
        await charlie.subscribe(topic)
        for topic in (
            f"chat:{team.chat.id}",
            f"workspace:{team.workspace.id}",
            f"actor:{team.alice.id}",
            f"chat:{uuid4()}",
            f"workspace:{uuid4()}",
            f"actor:{uuid4()}",
            "chat:x",
            "",
            "elsewhere:1",
        )
    ]
    assert {(answer["type"], answer["code"]) for answer in answers} == {("error", "not_found")}
    await run_in_db_thread(post, team.chat, team.alice, "not for charlie")
    assert await charlie.is_silent()
    assert get_hub().sockets
    assert not any(socket.subscriptions for socket in get_hub().sockets)


async def test_SEC6_a_cookie_requires_our_origin(team, tabs):
    for origin in (
        None,
        "null",
        "",
        "https://evil.example",
        "http://localhost:8000.evil.example",
        "http://evil@localhost:8000",
        "http://localhost:9999",
        "http://localhost",
        "ftp://localhost:8000",
        "http://localhost:8000/path",
        "localhost:8000",
    ):
        tab = await tabs.build_tab(team.alice, origin=origin)
        assert not await tab.connect(), origin


async def test_SEC6_an_unknown_host_is_refused_even_with_a_matching_origin(team, tabs):
    key = await run_in_db_thread(create_session_key, team.alice)
    headers = [
        (b"host", b"evil.example"),
        (b"origin", b"http://evil.example"),
        (b"cookie", f"sessionid={key}".encode()),
    ]
    assert not await tabs.with_headers(headers).connect()


async def test_SEC6_the_configured_public_url_is_an_allowed_origin(team, tabs, settings):
    settings.CSRF_TRUSTED_ORIGINS = ["https://atelier.example.org"]
    assert await (await tabs.build_tab(team.alice, origin="https://atelier.example.org")).connect()


async def test_SEC6_a_session_token_in_a_header_requires_no_origin(team, tabs):
    key = await run_in_db_thread(create_session_key, team.alice)
    tab = tabs.with_headers([(b"host", b"localhost:8000"), (b"x-session-token", key.encode())])
    assert await tab.connect()
    assert (await tab.subscribe(f"chat:{team.chat.id}"))["type"] == "subscribed"


async def test_a_socket_without_a_valid_session_is_closed(team, tabs):
    for key in ("", "nonsense"):
        tab = await tabs.build_tab(team.alice, key=key or "x")
        assert await tab.connect()
        assert await tab.wait_for_close() == 4003


async def test_an_agent_cannot_open_a_socket(team, tabs):
    tab = await tabs.build_tab(team.robin)
    await tab.connect()
    assert await tab.wait_for_close() == 4003


async def test_only_one_path_is_a_socket(team, tabs):
    assert not await tabs.with_headers([(b"host", b"localhost:8000")], path="/ws/other").connect()


async def test_SEC20_a_socket_survives_invalid_frames(team, tabs):
    tab = await tabs.open_tab(team.alice)
    for text in (
        "",
        "{",
        "[]",
        "null",
        '{"type": "subscribe"}',
        '{"type": "delete", "topic": "x"}',
        '{"type": "subscribe", "topic": 5}',
        '{"type":"subscribe","topic":"chat:x","since":-1}',
        '{"type":"typing","topic":"' + "x" * 200 + '"}',
        "[" * 10_000,
    ):
        await tab.socket.send_input({"type": "websocket.receive", "text": text})
        frame = await tab.receive()
        assert (frame["type"], frame["code"]) == ("error", "invalid")
    await tab.socket.send_to(bytes_data=b"\x00\xff")
    assert (await tab.receive())["code"] == "invalid"
    assert (await tab.subscribe(f"chat:{team.chat.id}"))["type"] == "subscribed"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "The frame is not JSON."),
        ('{"type": "delete"}', "The frame has no known `type`. There are: subscribe, unsubscribe, typing, mark_read."),
        ("{}", "The frame has no known `type`. There are: subscribe, unsubscribe, typing, mark_read."),
        ('{"type": "subscribe"}', "The frame does not match the schema: subscribe.topic: Field required"),
        ("[]", "The frame does not match the schema: frame: Input should be an object"),
    ],
)
async def test_the_error_says_why_a_frame_is_invalid(team, tabs, text, message):
    tab = await tabs.open_tab(team.alice)
    await tab.socket.send_input({"type": "websocket.receive", "text": text})
    assert (await tab.receive())["message"] == message


@pytest.mark.parametrize("text", ["x" * (limits.MAX_FRAME_BYTES + 1), "你" * (limits.MAX_FRAME_BYTES // 3 + 1)])
async def test_MSG8_a_too_large_frame_closes_the_socket(team, tabs, text):
    tab = await tabs.open_tab(team.alice)
    await tab.socket.send_to(text_data=text)
    assert await tab.wait_for_close() == 1009


async def test_a_client_that_sends_too_much_gets_errors_and_is_then_closed(team, tabs, monkeypatch):
    monkeypatch.setattr(limits, "SOCKET_BURST_FRAMES", 5.0)
    monkeypatch.setattr(limits, "SOCKET_FRAMES_PER_SECOND", 0.0)
    tab = await tabs.open_tab(team.alice)
    tab_limit = 5 + limits.MAX_REFUSED + 2
    for _ in range(tab_limit):
        await tab.send(type="unsubscribe", topic=f"chat:{team.chat.id}")
    assert await tab.wait_for_close() == 4029
    assert {frame["code"] for frame in tab.received if frame["type"] == "error"} == {"limit_reached"}


async def test_the_sockets_of_a_person_and_the_topics_of_a_socket_are_limited(team, tabs, monkeypatch):
    monkeypatch.setattr("server.limits.MAX_SOCKETS_PER_PERSON", 2)
    monkeypatch.setattr("server.limits.MAX_SUBSCRIPTIONS", 1)
    tab, _ = await tabs.open_tab(team.alice), await tabs.open_tab(team.alice)
    assert await (await tabs.open_tab(team.alice)).wait_for_close() == 4029
    await tabs.open_tab(team.bob)
    await tab.subscribe(f"chat:{team.chat.id}")
    assert (await tab.subscribe(f"actor:{team.alice.id}"))["code"] == "limit_reached"
    assert (await tab.subscribe(f"chat:{team.chat.id}"))["type"] == "subscribed"


async def test_no_frames_are_sent_after_unsubscribing(team, tabs):
    tab = await tabs.open_tab(team.alice)
    await tab.subscribe(f"chat:{team.chat.id}")
    await tab.send(type="unsubscribe", topic=f"chat:{team.chat.id}")
    await tab.send(type="unsubscribe", topic=f"chat:{team.chat.id}")
    await run_in_db_thread(post, team.chat, team.bob, "nobody here")
    assert await tab.is_silent()


async def test_typing_is_sent_to_others_at_most_every_two_seconds(team, tabs):
    topic = f"chat:{team.chat.id}"
    alice, bob = await tabs.open_tab(team.alice), await tabs.open_tab(team.bob)
    await alice.subscribe(topic)
    await bob.subscribe(topic)
    for _ in range(3):
        await alice.send(type="typing", topic=topic)
    assert (await bob.receive_type("typing"))["actor_id"] == str(team.alice.id)
    assert await bob.is_silent()


async def test_EDIT6_typing_requires_a_subscription_to_the_chat(team, tabs):
    alice, charlie = await tabs.open_tab(team.alice), await tabs.open_tab(team.charlie)
    await alice.subscribe(f"chat:{team.chat.id}")
    await charlie.send(type="typing", topic=f"chat:{team.chat.id}")
    assert await alice.is_silent()


CARETS: list[Any] = [3, -1, 10**18, 1.5, "3", None, [], True]


def draft_with_caret(team, draft, caret):
    """Return a `draft` frame, which only the server may send."""
    return {
        "type": "draft",
        "topic": f"chat:{team.chat.id}",
        "draft_id": str(draft.id),
        "agent_id": str(team.robin.id),
        "revision": draft.revision + 1,
        "lock_holder_id": str(team.alice.id),
        "lock_expires_at": "2100-01-01T00:00:00Z",
        "written": {"prompt": "Forged"},
        "caret": caret,
    }


@pytest.mark.parametrize("forger", ["alice", "bob", "charlie"])
async def test_EDIT6_a_socket_cannot_write_a_draft_or_move_a_caret(team, tabs, forger):
    draft = await run_in_db_thread(
        drafts.claim_draft, actor=team.alice, chat_id=team.chat.id, agent_id=team.robin.id, content=None
    )
    reader, tab = await tabs.open_tab(team.bob), await tabs.open_tab(team[forger])
    await reader.subscribe(f"chat:{team.chat.id}")
    for caret in CARETS:
        frame = draft_with_caret(team, draft, caret)
        for forged in (frame, {**frame, "topic": f"chat:{new_id()}"}, {**frame, "agent_id": str(new_id())}):
            await tab.send(**forged)
            assert (await tab.receive_type("error"))["code"] == "invalid"
    assert await reader.is_silent()
    await run_in_db_thread(draft.refresh_from_db)
    assert (draft.revision, draft.written["prompt"]) == (1, "Answer.")


@pytest.mark.parametrize(("caret", "received"), [(2, 2), (10**18, 4), (-3, 0), (None, None)])
async def test_MSG7_a_published_caret_is_within_its_text(team, tabs, caret, received):
    where = {"actor": team.alice, "chat_id": team.chat.id, "agent_id": team.robin.id}
    draft = await run_in_db_thread(drafts.claim_draft, **where, content=None)
    reader = await tabs.open_tab(team.bob)
    await reader.subscribe(f"chat:{team.chat.id}")
    content = SpecContent(prompt="A 🦜")  # a bird is two units in a browser
    await run_in_db_thread(drafts.write_draft, **where, content=content, revision=draft.revision, caret=caret)
    assert (await reader.receive_type("draft"))["caret"] == received


async def test_MSG7_a_stalled_client_loses_deltas_first_and_then_the_connection(team, tabs, monkeypatch):
    monkeypatch.setattr(limits, "MAX_WAITING_FRAMES", 3)
    tab = await tabs.open_tab(team.alice)
    socket = next(iter(get_hub().sockets))
    for number in range(6):
        socket.send(f'{{"type": "delta", "number": {number}}}', transient=True)
    for _ in range(3):
        socket.send('{"type": "changes"}')
    assert get_hub().sockets
    socket.send('{"type": "changes"}')
    assert not get_hub().sockets
    assert await tab.wait_for_close() == 4008


@pytest.mark.parametrize("others", [True, False])
async def test_MSG5_frames_that_arrive_during_the_read_follow_the_snapshot(team, tabs, monkeypatch, others):
    """A message between the subscription and the read is sent after the answer, with and without other subscribers."""
    monkeypatch.setattr(topic_buffer, "SHARED_READ_SECONDS", 0.0)
    if others:
        await (await tabs.open_tab(team.bob)).subscribe(f"chat:{team.chat.id}")

    def slow(chat_id, since):
        answer = catch_up(chat_id, since)
        post(team.chat, team.bob, "in between")
        time.sleep(0.2)  # the frame is here before the answer
        return answer

    monkeypatch.setattr(hub, "catch_up", slow)
    tab = await tabs.open_tab(team.alice)
    answer = await tab.subscribe(f"chat:{team.chat.id}")
    assert "in between" not in json.dumps(tab.received)
    frame = await tab.receive_type("changes")
    assert "in between" in json.dumps(frame)
    assert frame["after"] == answer["version"]


async def test_a_broken_socket_does_not_affect_others(team, tabs):
    topic = f"chat:{team.chat.id}"
    alice, bob = await tabs.open_tab(team.alice), await tabs.open_tab(team.bob)
    await alice.subscribe(topic)
    await bob.subscribe(topic)
    broken = next(socket for socket in get_hub().sockets if socket.actor == team.alice)

    async def fail(text):
        raise OSError("the line is gone")

    broken.outbox._send = fail
    await run_in_db_thread(post, team.chat, team.bob, "one")
    await run_in_db_thread(post, team.chat, team.bob, "two")
    await bob.receive_until(lambda frame: "two" in json.dumps(frame))
    assert texts(bob) == ["one", "two"]
    assert broken not in get_hub().sockets
