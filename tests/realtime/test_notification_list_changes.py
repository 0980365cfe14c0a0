"""Changes of the list of notifications are sent to all tabs of the notified person only."""

import pytest
from django.db import transaction

from approvals.models import Approval
from approvals.services import ApprovalRequest, ask_for_approvals, decide_approval
from chats import services as chats
from common.ids import new_id
from llm.messages import ToolCall
from notifications import services as notifications
from notifications.models import Notification
from realtime.db_executor import run_in_db_thread


def is_list_change(frame):
    return frame["type"] == "list_changed" and frame["list"] == "notifications"


async def post(team, text):
    await run_in_db_thread(chats.post_message, team.alice, team.chat.id, id=new_id(), text=text, wake="nobody")


async def test_a_mention_and_reading_it_are_sent_to_all_tabs_of_the_person(team, tabs):
    first, second, alice = [await tabs.open_tab(person) for person in (team.bob, team.bob, team.alice)]
    for tab in (first, second):
        await tab.subscribe(f"actor:{team.bob.id}")
    await alice.subscribe(f"actor:{team.alice.id}")
    await post(team, "hello")
    await post(team, "@bob")
    for tab in (first, second):
        assert (await tab.receive_until(is_list_change))["topic"] == f"actor:{team.bob.id}"
    row = await run_in_db_thread(Notification.objects.get)
    assert row.person_id == team.bob.id
    await run_in_db_thread(notifications.mark_read, team.bob, ids=[row.id])
    await second.receive_until(is_list_change)
    await run_in_db_thread(notifications.mark_read, team.bob, ids=[row.id])  # read already: no news
    assert await second.is_silent()
    assert not [frame for frame in alice.received if is_list_change(frame)]


async def test_a_decision_about_a_call_tells_the_person_even_if_they_have_read_the_notification(team, tabs):
    bob = await tabs.open_tab(team.bob)
    await bob.subscribe(f"actor:{team.bob.id}")

    def ask() -> Approval:
        with transaction.atomic():
            call = ApprovalRequest(ToolCall("call_1", "write_file", "{}"), "others")
            messages = ask_for_approvals(team.chat, team.robin, team.bob, new_id(), [call])
            chats.save_changes(team.chat.id, messages)
        return Approval.objects.get()

    approval = await run_in_db_thread(ask)
    await bob.receive_until(is_list_change)
    await run_in_db_thread(notifications.mark_read, team.bob)
    await bob.receive_until(is_list_change)
    await run_in_db_thread(decide_approval, team.alice, approval.pk, "refused")
    await bob.receive_until(is_list_change)


async def test_a_rolled_back_mention_sends_no_frame(team, tabs):
    def roll_back():
        with transaction.atomic():
            chats.post_message(team.alice, team.chat.id, text="@bob", wake="nobody")
            raise RuntimeError

    bob = await tabs.open_tab(team.bob)
    await bob.subscribe(f"actor:{team.bob.id}")
    with pytest.raises(RuntimeError):
        await run_in_db_thread(roll_back)
    assert await bob.is_silent()
    assert await run_in_db_thread(Notification.objects.count) == 0
