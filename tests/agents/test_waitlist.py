"""Who would like a draft that somebody else holds: they ask once per hold, and hear once that it is free."""

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
from events.rows import Provenance
from notifications.models import Notification
from suggestions import services as suggestions
from tests.agents.test_draft_rules import at_once
from tests.api.test_rights import client_for
from tests.concurrency import ConcurrentTransaction
from tests.people import make_agent, make_operator, make_person
from workspaces import services as workspaces
from workspaces.models import Role

pytestmark = pytest.mark.django_db(transaction=True)

NEW = SpecContent(prompt="Answer like a pirate.")


def where(team, who="alice", **more):
    return {"actor": team[who], "chat_id": team.chat.id, "agent_id": team.robin.id, **more}


def take(team, who="alice"):
    return drafts.claim_draft(**where(team, who), content=NEW)


def ask(team, who="bob"):
    return drafts.request_draft(**where(team, who))


def wait_for(team, who="bob", *, is_waiting=True):
    return drafts.set_lock_waiter(**where(team, who), is_waiting=is_waiting)


def told(person):
    return list(Notification.objects.filter(person=person).order_by("created_at").values_list("type", flat=True))


def run_out():
    Draft.objects.update(lock_expires_at=timezone.now() - timedelta(seconds=1))


def joined(team, name, role=Role.SUGGESTER):
    person = make_person(name)
    workspaces.join_workspace(person, team.workspace.id, role=role, invited_by=team.alice)
    with transaction.atomic():
        chats.add_participant(team.alice, team.chat.id, person.id)
    return person


@pytest.fixture
def held(team):
    """Alice writes."""
    return take(team)


# --- asking -------------------------------------------------------------------------------------------------------


def test_the_lock_holder_is_told_who_asks_and_where(team, held):
    wish = ask(team)
    [row] = [one.to_row() for one in Notification.objects.all()]
    assert (row.type, row.actor_name, row.agent_name) == ("draft_requested", "Bob", "Robin")
    assert (row.chat_id, row.agent_id, told(team.alice)) == (team.chat.id, team.robin.id, ["draft_requested"])
    assert wish.is_waiting


def test_asking_again_tells_nobody_anew_and_says_since_when(team, held):
    first = ask(team)
    wait_for(team, is_waiting=False)
    second = ask(team)
    assert (second.requested_at, second.is_waiting) == (first.requested_at, True)
    assert told(team.alice) == ["draft_requested"]


def test_twenty_presses_at_once_are_one_question(team, held):
    found = at_once([lambda: ask(team)] * 20)
    assert len({wish.requested_at for wish in found}) == 1
    assert told(team.alice) == ["draft_requested"]


def test_of_another_lock_holder_and_in_another_lock_one_may_ask_anew(team, held):
    eve = joined(team, "Eve")
    ask(team)
    run_out()
    drafts.claim_draft(**where(team) | {"actor": eve})
    assert selectors.get_lock_waiter(**where(team, "bob")).to_row().model_dump() == {
        "is_waiting": True,
        "requested_at": None,
    }
    ask(team)
    assert told(eve) == ["draft_requested"]
    run_out()
    drafts.claim_draft(**where(team) | {"actor": eve})
    ask(team)
    assert told(eve) == ["draft_requested", "draft_requested"]


def test_the_holders_other_tab_is_the_same_lock(team, held):
    ask(team)
    take(team)
    ask(team)
    assert told(team.alice) == ["draft_requested"]


@pytest.mark.parametrize("deed", [ask, wait_for])
@pytest.mark.parametrize(
    ("who", "error", "code"),
    [
        ("alice", Conflict, Code.DRAFT_YOURS),
        ("charlie", NotFound, Code.NOT_FOUND),
        ("robin", Forbidden, Code.FORBIDDEN),
    ],
)
def test_neither_the_lock_holder_nor_an_outsider_nor_an_agent_can(team, held, deed, who, error, code):
    with pytest.raises(error) as refusal:
        deed(team, who)
    assert refusal.value.code == code
    assert not LockWaiter.objects.exists()
    assert not Notification.objects.exists()


@pytest.mark.parametrize("deed", [ask, wait_for])
def test_there_is_nothing_to_wait_for_when_nobody_locks_it(team, deed):
    with pytest.raises(Conflict) as refusal:
        deed(team)
    take(team)
    run_out()
    with pytest.raises(Conflict) as too_late:
        deed(team)
    assert (refusal.value.code, too_late.value.code) == (Code.DRAFT_UNLOCKED, Code.DRAFT_UNLOCKED)


def test_SEC1_an_outsider_reads_nothing_and_each_reader_their_own(team, held):
    wait_for(team)
    assert selectors.get_lock_waiter(**where(team, "bob")).is_waiting
    assert not selectors.get_lock_waiter(**where(team)).is_waiting
    with pytest.raises(NotFound):
        selectors.get_lock_waiter(**where(team, "charlie"))


def test_of_a_draft_that_is_over_nothing_can_be_wished(team, held):
    wait_for(team)
    discard(team, held)
    for gone in (lambda: selectors.get_lock_waiter(**where(team, "bob")), lambda: wait_for(team, is_waiting=False)):
        with pytest.raises(NotFound) as refusal:
            gone()
        assert refusal.value.code == Code.NO_DRAFT


def test_a_request_is_there_after_a_reload(team, held):
    path, bob = f"chats/{team.chat.id}/agents/{team.robin.id}/draft", client_for(team, "bob")
    assert bob("GET", f"{path}/waiter").json() == {"is_waiting": False, "requested_at": None}
    asked = bob("POST", f"{path}/request").json()
    assert asked["requested_at"]
    assert bob("GET", f"{path}/waiter").json() == asked
    assert bob("PUT", f"{path}/waiter", {"is_waiting": False}).json() == asked | {"is_waiting": False}


# --- it is free ---------------------------------------------------------------------------------------------------


def release(team, draft):
    drafts.release_draft(**where(team), revision=draft.revision)


def save(team, draft):
    drafts.save_draft(**where(team), revision=draft.revision, base_version=1)


def discard(team, draft):
    drafts.discard_draft(**where(team), revision=draft.revision)


def suggest(team, draft):
    suggestions.suggest_draft(**where(team), revision=draft.revision, note="")


def free(team, draft):
    drafts.release_draft(make_operator(), draft.chat_id, draft.agent_id)


def leave(team, draft):
    joined(team, "Dora", Role.EDITOR)
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.alice.id)


def leave_the_workspace(team, draft):
    dora = joined(team, "Dora", Role.EDITOR)
    with transaction.atomic():
        workspaces.remove_member(dora, team.workspace.id, team.alice.id)


def run_its_time(team, draft):
    run_out()
    drafts.notify_expired_locks()


def be_placed_over(team, draft):
    """A hold that ran out, then a text of somebody else that leaves the draft free."""
    run_out()
    eve = joined(team, "Eve", Role.EDITOR)
    drafts.replace_draft(
        actor=eve, chat_id=team.chat.id, agent_id=team.robin.id, content=SpecContent(prompt="Kind."), lock=False,
        base=AgentSpec.objects.get(agent=team.robin, number=1),
        provenance=Provenance(origin="revise", contributors=[], segments=[]),
        log_message=chats.build_system_message(team.chat.id, "DRAFT_STARTED", actor=eve, target=team.robin),
    )  # fmt: skip


ENDS = [release, save, discard, suggest, free, leave, leave_the_workspace, run_its_time, be_placed_over]


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
@pytest.mark.parametrize("wish", [ask, wait_for])
def test_however_a_lock_ends_who_waits_is_told_once_and_the_request_is_used_up(team, held, end, wish):
    wish(team)
    end(team, held)
    drafts.notify_expired_locks()
    assert [kind for kind in told(team.bob) if kind == "draft_unlocked"] == ["draft_unlocked"]
    assert not LockWaiter.objects.exists()
    row = Notification.objects.get(person=team.bob, type="draft_unlocked").to_row()
    assert (row.agent_name, row.chat_id, row.agent_id) == ("Robin", team.chat.id, team.robin.id)


def test_each_lock_that_ends_is_news(team, held):
    for draft in (held, None, None):
        holding = draft or take(team)
        wait_for(team)
        release(team, holding)
    assert told(team.bob) == ["draft_unlocked"] * 3


def test_who_waits_no_more_is_told_nothing(team, held):
    ask(team)
    wait_for(team, is_waiting=False)
    release(team, held)
    assert told(team.bob) == []


def test_who_ended_the_lock_is_not_told_of_it(team):
    drafts_of_bob = take(team, "bob")
    wait_for(team, "alice")
    drafts.discard_draft(**where(team), revision=drafts_of_bob.revision)
    assert "draft_unlocked" not in told(team.alice)


def test_who_cannot_take_it_any_more_is_told_nothing(team, held):
    gone, demoted = joined(team, "Gone"), joined(team, "Demoted")
    for person in (gone, demoted):
        drafts.set_lock_waiter(actor=person, chat_id=team.chat.id, agent_id=team.robin.id, is_waiting=True)
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, gone.id)
    with transaction.atomic():
        workspaces.remove_member(team.alice, team.workspace.id, demoted.id)
    release(team, held)
    assert (told(gone), told(demoted)) == ([], [])


def test_nobody_waits_for_an_agent_that_is_gone(team, held):
    wait_for(team)
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.robin.id)
    assert told(team.bob) == []
    assert not LockWaiter.objects.exists()


def test_who_takes_the_draft_waits_no_more_and_the_others_do(team, held):
    eve = joined(team, "Eve")
    wait_for(team)
    drafts.set_lock_waiter(actor=eve, chat_id=team.chat.id, agent_id=team.robin.id, is_waiting=True)
    run_out()
    drafts.claim_draft(**where(team, "bob"))
    drafts.notify_expired_locks()
    assert list(LockWaiter.objects.values_list("person__name", flat=True)) == ["Eve"]
    assert told(eve) == []


def test_twenty_wait_and_each_is_told_once_by_whoever_ends_the_lock(team, held):
    people = [joined(team, f"P{number}") for number in range(20)]
    for person in people:
        drafts.request_draft(actor=person, chat_id=team.chat.id, agent_id=team.robin.id)
    run_out()
    operator = make_operator()
    found = at_once(
        [drafts.notify_expired_locks] * 3 + [lambda: drafts.release_draft(operator, held.chat_id, held.agent_id)]
    )
    assert not [one for one in found if isinstance(one, AppError)]
    assert {person.name: told(person) for person in people} == {
        f"P{number}": ["draft_unlocked"] for number in range(20)
    }


def test_a_request_that_meets_the_end_of_the_lock_is_refused_or_told(team, held):
    with transaction.atomic():
        release(team, held)
        wishing = ConcurrentTransaction(lambda: wait_for(team))
    with pytest.raises(Conflict):
        wishing.result()
    assert not LockWaiter.objects.exists()


def test_a_lock_that_is_renewed_at_the_last_moment_goes_on(team, held):
    wait_for(team)
    run_out()
    with transaction.atomic():
        Draft.objects.update(lock_expires_at=timezone.now() + timedelta(minutes=5))
        sweeping = ConcurrentTransaction(drafts.notify_expired_locks)
    sweeping.result()
    assert told(team.bob) == []
    assert selectors.get_lock_waiter(**where(team, "bob")).is_waiting


def test_a_lock_that_ran_out_and_is_taken_first_was_not_free(team, held):
    eve = joined(team, "Eve")
    wait_for(team)
    run_out()
    with transaction.atomic():
        chats.lock_chat(team.chat.id)
        sweeping = ConcurrentTransaction(drafts.notify_expired_locks)
        drafts.claim_draft(**where(team) | {"actor": eve})
    sweeping.result()
    assert told(team.bob) == []
    assert selectors.get_lock_waiter(**where(team, "bob")).is_waiting


def test_a_lock_holder_who_types_keeps_the_sweeper_from_nothing_else(team, held):
    """A hold of one agent goes on while that of another has run out."""
    finch = make_agent(team.workspace, team.alice, "Finch")
    with transaction.atomic():
        chats.add_participant(team.alice, team.chat.id, finch.id)
    wait_for(team)
    eve = joined(team, "Eve")
    drafts.claim_draft(actor=eve, chat_id=team.chat.id, agent_id=finch.id)
    drafts.request_draft(actor=team.bob, chat_id=team.chat.id, agent_id=finch.id)
    Draft.objects.filter(agent=finch).update(lock_expires_at=timezone.now() - timedelta(seconds=1))
    drafts.notify_expired_locks()
    assert list(LockWaiter.objects.values_list("draft__agent__name", flat=True)) == ["Robin"]


def test_EDIT3_a_worker_tells_when_a_lock_runs_out_and_nobody_does_anything(environment, team, held, engine):
    wait_for(team)
    run_out()
    until = time.monotonic() + 20
    while time.monotonic() < until and not told(team.bob):
        time.sleep(0.05)
    assert told(team.bob) == ["draft_unlocked"]
