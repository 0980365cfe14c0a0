"""Sockets by an API token: from any origin, and only while the token is valid (SEC5, SEC6, SEC7)."""

import pytest
from django.db import transaction

from actors import services as actors
from actors.models import ApiToken
from common.clock import now
from realtime import maintenance, read_cursors
from realtime.db_executor import run_in_db_thread
from tests.people import make_operator


@pytest.fixture
def made(team):
    with transaction.atomic():
        return actors.create_token(team.alice, name="Listener", days=None)


def by_token(tabs, text, *more):
    return tabs.with_headers([(b"host", b"localhost:8000"), (b"authorization", f"Bearer {text}".encode()), *more])


async def test_SEC6_a_token_opens_a_socket_from_any_origin(team, tabs, made):
    _, text = made
    for origin in ([], [(b"origin", b"https://elsewhere.example")]):
        tab = by_token(tabs, text, *origin)
        assert await tab.connect()
        assert (await tab.subscribe(f"chat:{team.chat.id}"))["snapshot"] is True
        assert (await tab.subscribe(f"workspace:{team.elsewhere.id}"))["code"] == "not_found"


async def test_EDIT6_a_read_only_token_cannot_change_anything_by_a_socket(team, tabs, made, monkeypatch):
    monkeypatch.setattr(read_cursors, "WRITE_DELAY_SECONDS", 0.0)
    token, text = made
    await run_in_db_thread(ApiToken.objects.filter(pk=token.pk).update, scope="read")
    tab, bob, topic = by_token(tabs, text), await tabs.open_tab(team.bob), f"chat:{team.chat.id}"
    assert await tab.connect()
    assert (await tab.subscribe(topic))["snapshot"] is True
    await bob.subscribe(topic)
    for frame in ({"type": "mark_read", "topic": topic, "seq": 1}, {"type": "typing", "topic": topic}):
        await tab.send(**frame)
        assert (await tab.receive_type("error"))["code"] == "forbidden"
    assert await bob.is_silent()
    assert (await run_in_db_thread(team.chat.participants.get, actor=team.alice)).last_read_seq == 0


def _in_transaction(service, *args):
    with transaction.atomic():
        service(*args)


@pytest.mark.parametrize("end", ["revoked", "deactivated"])
async def test_SEC5_sockets_of_a_token_are_closed_at_once_when_it_ends(team, tabs, made, end, monkeypatch):
    monkeypatch.setattr(maintenance, "RIGHTS_CHECK_INTERVAL_SECONDS", 60.0)  # not by the clock
    token, text = made
    tab, session = by_token(tabs, text), await tabs.open_tab(team.alice)
    assert await tab.connect()
    await tab.subscribe(f"actor:{team.alice.id}")
    await session.subscribe(f"actor:{team.alice.id}")
    if end == "revoked":
        await run_in_db_thread(actors.revoke_token, team.alice, token.id)
        assert await session.is_silent()
    else:
        await run_in_db_thread(lambda: actors.deactivate_person(make_operator(), team.alice.id))
    assert await tab.wait_for_close() == 4003


@pytest.mark.usefixtures("quick")
async def test_SEC5_sockets_are_closed_when_their_token_expires(team, tabs, made):
    token, text = made
    tab = by_token(tabs, text)
    assert await tab.connect()
    await run_in_db_thread(ApiToken.objects.filter(pk=token.pk).update, expires_at=now())
    assert await tab.wait_for_close() == 4003


async def test_SEC5_a_new_password_or_signing_out_everywhere_closes_only_sockets_of_sessions(
    team, tabs, made, monkeypatch
):
    monkeypatch.setattr(maintenance, "RIGHTS_CHECK_INTERVAL_SECONDS", 60.0)
    _, text = made
    program = by_token(tabs, text)
    assert await program.connect()
    await program.subscribe(f"actor:{team.alice.id}")
    for service, args in ((actors.end_sessions, ()), (actors.set_password, ("another long password",))):
        tab = await tabs.open_tab(team.alice)
        await tab.subscribe(f"actor:{team.alice.id}")
        await run_in_db_thread(_in_transaction, service, team.alice, *args)
        assert await tab.wait_for_close() == 4003
    assert await program.is_silent()


async def test_SEC7_an_invalid_token_opens_no_socket(team, tabs, made):
    _, text = made
    session = (b"cookie", b"sessionid=" + (await tabs.build_tab(team.alice)).socket.scope["headers"][1][1][10:])
    ours = (b"origin", b"http://localhost:8000")
    for tab in (
        by_token(tabs, text + "x"),
        by_token(tabs, "", session, ours),
        tabs.with_headers([(b"host", b"localhost:8000"), (b"x-session-token", text.encode())]),
        tabs.with_headers([(b"host", b"localhost:8000"), ours, (b"cookie", f"sessionid={text}".encode())]),
    ):
        assert await tab.connect()
        assert await tab.wait_for_close() == 4003
