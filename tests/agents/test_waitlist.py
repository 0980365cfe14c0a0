"""The waitlist of a locked draft: a person requests it once per lock, and is notified once when the lock is free."""

import time
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from agents import selectors
from agents.models import AgentSpec, Draft, LockWaiter
from agents.services import drafts
from agents.specs.content import SpecContent
from chats import services as chats
from common.errors import AppError, Code, Conflict, Forbidden, NotFound
from events.rows import Provenance, Role
from notifications.models import Notification
from suggestions import services as suggestions
from tests.agents.test_draft_rules import run_concurrently
from tests.api.test_rights import client_for
from tests.concurrency import ConcurrentTransaction
from tests.people import make_agent, make_operator, make_person
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db(transaction=True)

NEW = SpecContent(prompt="Answer like a pirate.")


def draft_args(team, who="alice", **more):
    return {"actor": team[who], "chat_id": team.chat.id, "agent_id": team.robin.id, **more}


def claim(team, who="alice"):
    return drafts.claim_draft(**draft_args(team, who), content=NEW)


def request_draft(team, who="bob"):
    return drafts.request_draft(**draft_args(team, who))


def wait_for_lock(team, who="bob", *, wants_notice=True):
    return drafts.set_wants_notice(**draft_args(team, who), wants_notice=wants_notice)


def list_notifications(person):
    return list(Notification.objects.filter(person=person).order_by("created_at").values_list("type", flat=True))


def expire_locks():
    Draft.objects.update(lock_expires_at=timezone.now() - timedelta(seconds=1))


def add_person(team, name, role=Role.SUGGESTER):
    person = make_person(name)
    workspaces.join_workspace(person, team.workspace.id, role=role, invited_by=team.alice)
    with transaction.atomic():
        chats.add_participant(team.alice, team.chat.id, person.id)
    Notification.objects.filter(type="chat_invitation").delete()
    return person


@pytest.fixture
def locked_draft(team):
    """A draft that Alice has locked."""
    return claim(team)


# --- requests -------------------------------------------------------------------------------------------------------


def test_a_request_notifies_the_lock_holder_with_requester_and_chat(team, locked_draft):
    waiter = request_draft(team)
    [row] = [notification.to_row() for notification in Notification.objects.all()]
    assert (row.type, row.actor_name, row.agent_name) == ("draft_requested", "Bob", "Robin")
    assert (row.chat_id, row.agent_id, list_notifications(team.alice)) == (
        team.chat.id,
        team.robin.id,
        ["draft_requested"],
    )
    assert waiter.wants_notice


def test_a_second_request_does_not_notify_again_and_keeps_its_time(team, locked_draft):
    first = request_draft(team)
    wait_for_lock(team, wants_notice=False)
    second = request_draft(team)
    assert (second.requested_at, second.wants_notice) == (first.requested_at, True)
    assert list_notifications(team.alice) == ["draft_requested"]


def test_twenty_concurrent_requests_notify_once(team, locked_draft):
    results = run_concurrently([lambda: request_draft(team)] * 20)
    assert len({waiter.requested_at for waiter in results}) == 1
    assert list_notifications(team.alice) == ["draft_requested"]


def test_a_new_lock_can_be_requested_again(team, locked_draft):
    eve = add_person(team, "Eve")
    request_draft(team)
    expire_locks()
    drafts.claim_draft(**draft_args(team) | {"actor": eve})
    assert selectors.get_lock_waiter(**draft_args(team, "bob")).to_row().model_dump() == {
        "wants_notice": True,
        "requested_at": None,
    }
    request_draft(team)
    assert list_notifications(eve) == ["draft_requested"]
    expire_locks()
    drafts.claim_draft(**draft_args(team) | {"actor": eve})
    request_draft(team)
    assert list_notifications(eve) == ["draft_requested", "draft_requested"]


def test_a_claim_in_another_tab_of_the_holder_is_the_same_lock(team, locked_draft):
    request_draft(team)
    claim(team)
    request_draft(team)
    assert list_notifications(team.alice) == ["draft_requested"]


@pytest.mark.parametrize("action", [request_draft, wait_for_lock])
@pytest.mark.parametrize(
    ("who", "error", "code"),
    [
        ("alice", Conflict, Code.DRAFT_YOURS),
        ("charlie", NotFound, Code.NOT_FOUND),
        ("robin", Forbidden, Code.FORBIDDEN),
    ],
)
def test_lock_holders_outsiders_and_agents_can_neither_request_nor_wait(team, locked_draft, action, who, error, code):
    with pytest.raises(error) as refusal:
        action(team, who)
    assert refusal.value.code == code
    assert not LockWaiter.objects.exists()
    assert not Notification.objects.exists()


@pytest.mark.parametrize("action", [request_draft, wait_for_lock])
def test_an_unlocked_draft_can_be_neither_requested_nor_waited_for(team, action):
    with pytest.raises(Conflict) as refusal:
        action(team)
    claim(team)
    expire_locks()
    with pytest.raises(Conflict) as too_late:
        action(team)
    assert (refusal.value.code, too_late.value.code) == (Code.DRAFT_NOT_LOCKED, Code.DRAFT_NOT_LOCKED)


def test_SEC1_a_person_reads_only_their_own_waiter(team, locked_draft):
    wait_for_lock(team)
    assert selectors.get_lock_waiter(**draft_args(team, "bob")).wants_notice
    assert not selectors.get_lock_waiter(**draft_args(team)).wants_notice
    with pytest.raises(NotFound):
        selectors.get_lock_waiter(**draft_args(team, "charlie"))


def test_an_ended_draft_has_no_waiters(team, locked_draft):
    wait_for_lock(team)
    discard_draft(team, locked_draft)
    for former_participant in (
        lambda: selectors.get_lock_waiter(**draft_args(team, "bob")),
        lambda: wait_for_lock(team, wants_notice=False),
    ):
        with pytest.raises(NotFound) as refusal:
            former_participant()
        assert refusal.value.code == Code.NO_DRAFT


def test_a_request_can_be_read_again_over_the_api(team, locked_draft):
    path, bob = f"chats/{team.chat.id}/agents/{team.robin.id}/draft", client_for(team, "bob")
    assert bob("GET", f"{path}/lock-waiter").json() == {"wants_notice": False, "requested_at": None}
    row = bob("POST", f"{path}/request").json()
    assert row["requested_at"]
    assert bob("GET", f"{path}/lock-waiter").json() == row
    assert bob("PUT", f"{path}/lock-waiter", {"wants_notice": False}).json() == row | {"wants_notice": False}


# --- the end of a lock ---------------------------------------------------------------------------------------------------


def release_draft(team, draft):
    drafts.release_draft(**draft_args(team), revision=draft.revision)


def save_draft(team, draft):
    drafts.save_draft(**draft_args(team), revision=draft.revision, base_version=1)


def discard_draft(team, draft):
    drafts.discard_draft(**draft_args(team), revision=draft.revision)


def suggest_draft(team, draft):
    suggestions.suggest_draft(**draft_args(team), revision=draft.revision, note="")


def release_draft_as_operator(team, draft):
    drafts.release_draft(make_operator(), draft.chat_id, draft.agent_id)


def leave_chat(team, draft):
    add_person(team, "Dora", Role.EDITOR)
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.alice.id)


def leave_workspace(team, draft):
    dora = add_person(team, "Dora", Role.EDITOR)
    with transaction.atomic():
        workspaces.remove_member(dora, team.workspace.id, team.alice.id)


def let_lock_expire(team, draft):
    expire_locks()
    drafts.notify_expired_locks()


def replace_draft(team, draft):
    """Let the lock expire, then replace the text as another person without a lock."""
    expire_locks()
    eve = add_person(team, "Eve", Role.EDITOR)
    drafts.replace_draft(
        actor=eve,
        chat_id=team.chat.id,
        agent_id=team.robin.id,
        content=SpecContent(prompt="Kind."),
        lock=False,
        base=AgentSpec.objects.get(agent=team.robin, number=1),
        provenance=Provenance(origin="revise", contributors=[], segments=[]),
        system_message=chats.build_system_message(team.chat.id, "DRAFT_STARTED", actor=eve, target=team.robin),
    )


ENDS = [
    release_draft,
    save_draft,
    discard_draft,
    suggest_draft,
    release_draft_as_operator,
    leave_chat,
    leave_workspace,
    let_lock_expire,
    replace_draft,
]


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
@pytest.mark.parametrize("wait", [request_draft, wait_for_lock])
def test_every_end_of_a_lock_notifies_the_waiter_once_and_deletes_the_row(team, locked_draft, end, wait):
    wait(team)
    end(team, locked_draft)
    drafts.notify_expired_locks()
    assert [type_ for type_ in list_notifications(team.bob) if type_ == "draft_unlocked"] == ["draft_unlocked"]
    assert not LockWaiter.objects.exists()
    row = Notification.objects.get(person=team.bob, type="draft_unlocked").to_row()
    assert (row.agent_name, row.chat_id, row.agent_id) == ("Robin", team.chat.id, team.robin.id)


def test_each_end_of_a_lock_notifies_its_waiters(team, locked_draft):
    for draft in (locked_draft, None, None):
        holding = draft or claim(team)
        wait_for_lock(team)
        release_draft(team, holding)
    assert list_notifications(team.bob) == ["draft_unlocked"] * 3


def test_a_person_who_stopped_waiting_is_not_notified(team, locked_draft):
    request_draft(team)
    wait_for_lock(team, wants_notice=False)
    release_draft(team, locked_draft)
    assert list_notifications(team.bob) == []


def test_the_person_who_ends_a_lock_is_not_notified(team):
    draft_of_bob = claim(team, "bob")
    wait_for_lock(team, "alice")
    drafts.discard_draft(**draft_args(team), revision=draft_of_bob.revision)
    assert "draft_unlocked" not in list_notifications(team.alice)


def test_a_waiter_who_may_no_longer_edit_the_draft_is_not_notified(team, locked_draft):
    former_participant, demoted = add_person(team, "Gone"), add_person(team, "Demoted")
    for person in (former_participant, demoted):
        drafts.set_wants_notice(actor=person, chat_id=team.chat.id, agent_id=team.robin.id, wants_notice=True)
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, former_participant.id)
    with transaction.atomic():
        workspaces.remove_member(team.alice, team.workspace.id, demoted.id)
    release_draft(team, locked_draft)
    assert (list_notifications(former_participant), list_notifications(demoted)) == ([], [])


def test_waiters_for_an_agent_that_left_are_removed_without_a_notification(team, locked_draft):
    wait_for_lock(team)
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.robin.id)
    assert list_notifications(team.bob) == []
    assert not LockWaiter.objects.exists()


def test_a_waiter_who_claims_the_draft_leaves_the_waitlist_and_the_others_stay(team, locked_draft):
    eve = add_person(team, "Eve")
    wait_for_lock(team)
    drafts.set_wants_notice(actor=eve, chat_id=team.chat.id, agent_id=team.robin.id, wants_notice=True)
    expire_locks()
    drafts.claim_draft(**draft_args(team, "bob"))
    drafts.notify_expired_locks()
    assert list(LockWaiter.objects.values_list("person__name", flat=True)) == ["Eve"]
    assert list_notifications(eve) == []


def test_twenty_waiters_are_notified_once_by_concurrent_ends_of_the_lock(team, locked_draft):
    people = [add_person(team, f"P{number}") for number in range(20)]
    for person in people:
        drafts.request_draft(actor=person, chat_id=team.chat.id, agent_id=team.robin.id)
    expire_locks()
    operator = make_operator()
    results = run_concurrently(
        [drafts.notify_expired_locks] * 3
        + [lambda: drafts.release_draft(operator, locked_draft.chat_id, locked_draft.agent_id)]
    )
    assert not [notification for notification in results if isinstance(notification, AppError)]
    assert {person.name: list_notifications(person) for person in people} == {
        f"P{number}": ["draft_unlocked"] for number in range(20)
    }


def test_a_wait_that_is_concurrent_with_the_end_of_the_lock_is_refused(team, locked_draft):
    with transaction.atomic():
        release_draft(team, locked_draft)
        waiting = ConcurrentTransaction(lambda: wait_for_lock(team))
    with pytest.raises(Conflict):
        waiting.result()
    assert not LockWaiter.objects.exists()


def test_the_sweeper_does_not_notify_for_a_lock_that_is_renewed_meanwhile(team, locked_draft):
    wait_for_lock(team)
    expire_locks()
    with transaction.atomic():
        Draft.objects.update(lock_expires_at=timezone.now() + timedelta(minutes=5))
        sweeping = ConcurrentTransaction(drafts.notify_expired_locks)
    sweeping.result()
    assert list_notifications(team.bob) == []
    assert selectors.get_lock_waiter(**draft_args(team, "bob")).wants_notice


def test_the_sweeper_does_not_notify_for_an_expired_lock_that_is_claimed_meanwhile(team, locked_draft):
    eve = add_person(team, "Eve")
    wait_for_lock(team)
    expire_locks()
    with transaction.atomic():
        chats.lock_chat(team.chat.id)
        sweeping = ConcurrentTransaction(drafts.notify_expired_locks)
        drafts.claim_draft(**draft_args(team) | {"actor": eve})
    sweeping.result()
    assert list_notifications(team.bob) == []
    assert selectors.get_lock_waiter(**draft_args(team, "bob")).wants_notice


def test_the_sweeper_notifies_only_waiters_of_expired_locks(team, locked_draft):
    """The lock of one agent's draft is renewed while that of another has expired."""
    finch = make_agent(team.workspace, team.alice, "Finch")
    with transaction.atomic():
        chats.add_participant(team.alice, team.chat.id, finch.id)
    wait_for_lock(team)
    eve = add_person(team, "Eve")
    drafts.claim_draft(actor=eve, chat_id=team.chat.id, agent_id=finch.id)
    drafts.request_draft(actor=team.bob, chat_id=team.chat.id, agent_id=finch.id)
    Draft.objects.filter(agent=finch).update(lock_expires_at=timezone.now() - timedelta(seconds=1))
    drafts.notify_expired_locks()
    assert list(LockWaiter.objects.values_list("draft__agent__name", flat=True)) == ["Robin"]


def test_EDIT3_a_worker_notifies_waiters_of_an_expired_lock(environment, team, locked_draft, engine):
    wait_for_lock(team)
    expire_locks()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not list_notifications(team.bob):
        time.sleep(0.05)
    assert list_notifications(team.bob) == ["draft_unlocked"]
