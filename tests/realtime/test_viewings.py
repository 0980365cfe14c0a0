"""SEC45: the socket of an operator who views as a person shows what the person sees, and changes nothing."""

import pytest
from django.db import transaction

from actors import services as actors
from actors.models import VIEWING_KEY
from actors.sessions import SessionStore
from chats import services as chats
from common.clock import now
from realtime import maintenance, presence, read_cursors
from realtime.db_executor import run_in_db_thread
from realtime.hub import get_hub
from realtime.socket import SIGNED_OUT
from realtime.topics import Topic
from tests.factories.viewings import make_viewing
from tests.people import make_operator
from tests.realtime.tab import create_session_key


def start_viewing(person):
    operator = make_operator()
    session = SessionStore(create_session_key(operator))
    viewing = make_viewing(operator, person, session)
    assert session[VIEWING_KEY] == str(viewing.pk)
    return viewing, session.session_key


def end_viewing(viewing):
    with transaction.atomic():
        actors.end_viewing(viewing.operator, viewing.pk)


async def test_SEC45_a_socket_sees_what_the_person_sees_and_is_not_present(team, tabs, quick):
    viewing, key = await run_in_db_thread(start_viewing, team.alice)
    bob = await tabs.open_tab(team.bob)
    topic = f"chat:{team.chat.id}"
    await bob.subscribe(topic)
    tab = await tabs.open_tab(viewing.operator, key=key)
    assert (await tab.subscribe(topic))["snapshot"] is True
    assert (await tab.subscribe(f"actor:{team.alice.id}"))["type"] == "subscribed"
    assert (await tab.subscribe(f"actor:{viewing.operator.id}"))["code"] == "not_found"
    assert (await tab.subscribe(f"workspace:{team.elsewhere.id}"))["code"] == "not_found"
    await run_in_db_thread(lambda: chats.post_message(team.bob, team.chat.id, text="Good morning", wake="nobody"))
    await tab.receive_until(lambda frame: "Good morning" in str(frame))
    for _ in range(2):  # also after the presence was renewed
        await bob.receive_type("heartbeat")
        present = await run_in_db_thread(presence.list_present, Topic("chat", team.chat.id))
        assert present == [team.bob.id]


async def test_SEC45_a_viewing_ends_no_presence_of_the_person(team, tabs):
    viewing, key = await run_in_db_thread(start_viewing, team.alice)
    alice, topic = await tabs.open_tab(team.alice), Topic("chat", team.chat.id)
    await alice.subscribe(str(topic))
    tab = await tabs.open_tab(viewing.operator, key=key)
    await tab.subscribe(str(topic))
    await tab.send(type="unsubscribe", topic=str(topic))
    await tab.subscribe(str(topic))
    await tab.close()
    hub = get_hub()
    while hub._tasks:
        await next(iter(hub._tasks))
    assert await run_in_db_thread(presence.list_present, topic) == [team.alice.id]


async def test_SEC45_no_frame_changes_anything(team, tabs, monkeypatch):
    monkeypatch.setattr(read_cursors, "WRITE_DELAY_SECONDS", 0.0)
    viewing, key = await run_in_db_thread(start_viewing, team.alice)
    bob, topic = await tabs.open_tab(team.bob), f"chat:{team.chat.id}"
    await bob.subscribe(topic)
    tab = await tabs.open_tab(viewing.operator, key=key)
    await tab.subscribe(topic)
    for frame in ({"type": "mark_read", "topic": topic, "seq": 1}, {"type": "typing", "topic": topic}):
        await tab.send(**frame)
        assert (await tab.receive_type("error"))["code"] == "viewing"
    assert await bob.is_silent()
    assert (await run_in_db_thread(team.chat.participants.get, actor=team.alice)).last_read_seq == 0


async def test_SEC46_sockets_close_at_once_when_the_viewing_ends(team, tabs, monkeypatch):
    monkeypatch.setattr(maintenance, "RIGHTS_CHECK_INTERVAL_SECONDS", 60.0)  # not by the clock
    viewing, key = await run_in_db_thread(start_viewing, team.alice)
    alice = await tabs.open_tab(team.alice)
    tab = await tabs.open_tab(viewing.operator, key=key)
    await tab.subscribe(f"chat:{team.chat.id}")
    await run_in_db_thread(end_viewing, viewing)
    assert await tab.wait_for_close() == SIGNED_OUT
    assert (await alice.subscribe(f"chat:{team.chat.id}"))["snapshot"] is True
    # The same session is the operator's own again.
    own = await tabs.open_tab(viewing.operator, key=key)
    assert (await own.subscribe(f"actor:{viewing.operator.id}"))["type"] == "subscribed"
    assert (await own.subscribe(f"chat:{team.chat.id}"))["code"] == "not_found"


@pytest.mark.parametrize("change", [{"is_staff": False}, {"is_superuser": False}, {"is_active": False}])
async def test_SEC46_sockets_close_when_the_operator_loses_the_right(team, tabs, quick, change):
    viewing, key = await run_in_db_thread(start_viewing, team.alice)
    tab = await tabs.open_tab(viewing.operator, key=key)
    await tab.subscribe(f"chat:{team.chat.id}")
    await run_in_db_thread(type(team.alice).objects.filter(pk=viewing.operator_id).update, **change)
    assert await tab.wait_for_close() == SIGNED_OUT


async def test_SEC46_sockets_close_when_the_time_is_over(team, tabs, quick):
    viewing, key = await run_in_db_thread(start_viewing, team.alice)
    tab = await tabs.open_tab(viewing.operator, key=key)
    await tab.subscribe(f"chat:{team.chat.id}")
    await run_in_db_thread(type(viewing).objects.filter(pk=viewing.pk).update, ends_at=now())
    assert await tab.wait_for_close() == SIGNED_OUT
