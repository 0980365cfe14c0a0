"""Schedules: rights, changes, firing once, missed times, pauses, and taking over."""

import uuid
from datetime import timedelta
from threading import Barrier, Thread
from typing import Any, cast

import pytest
import time_machine
from django.db import connection, transaction

from actors.models import Actor, AgentStatus
from chats import services as chats
from chats.services.text_sources import TextSources
from common.clock import now
from common.errors import Conflict, Forbidden, Invalid, LimitReached, NotFound
from common.ids import get_lowest_id_at, new_id
from events.payloads import BudgetPeriod, BudgetScope
from notifications.models import Notification
from runs.models import Run
from schedules import services as schedules
from schedules.hooks import schedule_failed
from schedules.models import Schedule, ScheduledTime
from schedules.selectors import list_schedules
from schedules.services import firing
from tests.api.test_rights import client_for
from tests.factories.schedules import ScheduledTimeFactory, ScheduleFactory
from tests.factories.usage import ModelPriceFactory
from tests.people import make_agent, make_person
from tests.runs.test_takeover import IdleEngine
from tests.runs.test_unstorable_runs import refused
from usage import services as usage
from worker import sweeper
from worker.isolation import IsolatedProcesses
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db(transaction=True)


def create(environment, *, by=None, **fields):
    team = environment.team
    fields = {
        "name": "Morning",
        "instructions": "Read https://news.example and sum it up.",
        "expression": "0 8 1 1 *",
        "time_zone": "Asia/Taipei",
    } | fields
    return schedules.create_schedule(by or team.alice, team.chat.id, team.robin.id, **fields)[0]


def make_due(schedule, **ago):
    """Set the schedule to have been due so long ago."""
    due = now() - timedelta(**ago or {"minutes": 1})
    Schedule.objects.filter(pk=schedule.pk).update(next_at=due)
    return due


def read(schedule, by):
    return next(row for row in list_schedules(by, schedule.agent_id) if row.id == schedule.pk)


# --- rights and changes ------------------------------------------------------------------------------------------


def test_editors_create_schedules_and_participants_see_them(environment):
    team = environment.team
    schedule = create(environment)
    for person, may in ((team.alice, True), (team.bob, False)):
        row = read(schedule, person)
        assert (row.name, row.owner_name, row.can_change, len(row.next_times)) == ("Morning", "Alice", may, 3)
    with pytest.raises(NotFound):
        list_schedules(team.charlie, team.robin.id)
    for person, error in ((team.bob, Forbidden), (team.charlie, NotFound), (team.robin, Forbidden)):
        with pytest.raises(error):
            create(environment, by=person)
    for person, error in ((team.bob, Forbidden), (team.charlie, NotFound)):
        for work in (
            lambda person: schedules.change_schedule(person, schedule.pk, revision=1, name="Mine"),
            lambda person: schedules.delete_schedule(person, schedule.pk),
            lambda person: schedules.run_schedule_now(person, schedule.pk),
        ):
            with pytest.raises(error):
                work(person)
    assert Schedule.objects.get().name == "Morning"
    assert not Run.objects.exists()


def test_a_person_who_is_not_in_the_chat_does_not_see_its_schedules(environment):
    create(environment)
    chats.remove_participant(environment.team.alice, environment.team.chat.id, environment.team.bob.id)
    assert list_schedules(environment.team.bob, environment.team.robin.id) == []


def test_a_former_member_does_not_see_schedules_of_the_agents_of_their_workspace(environment):
    team = environment.team
    create(environment)
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    with pytest.raises(NotFound):
        list_schedules(team.bob, team.robin.id)


def test_the_schedules_of_a_chat_between_agents_are_seen_by_editors_and_changed_by_nobody(environment):
    team = environment.team
    with transaction.atomic():
        quill = make_agent(team.workspace, team.alice, "Quill")
        chat, _ = chats.open_direct_chat(team.robin, team.workspace.id, quill.id)
    schedule = ScheduleFactory.create(chat=chat, agent=team.robin, owner=team.alice)
    assert not read(schedule, team.alice).can_change
    assert list_schedules(team.bob, team.robin.id) == []
    assert [row.id for row in list_schedules(quill, team.robin.id)] == [schedule.pk]


def test_the_same_id_again_creates_one_schedule(environment):
    id = new_id()
    assert create(environment, id=id).pk == create(environment, id=id).pk == id
    api = client_for(environment.team, "alice")
    path = f"chats/{environment.team.chat.id}/agents/{environment.team.robin.id}/schedules"
    body = {"id": str(new_id()), "name": "Evening", "instructions": "Sum it up.", "expression": "@daily"}
    assert [api("POST", path, body | {"time_zone": "UTC"}).status_code for _ in range(2)] == [201, 200]
    with pytest.raises(Conflict):
        create(environment, id=id, by=_make_editor(environment))
    assert Schedule.objects.count() == 2


def test_an_invalid_expression_and_too_many_schedules_are_refused(environment, settings):
    for expression in ("* * * * *", "soon"):
        with pytest.raises(Invalid):
            create(environment, expression=expression)
    settings.QUOTAS = settings.QUOTAS | {"schedules": 1}
    create(environment)
    with pytest.raises(LimitReached):
        create(environment)
    assert Schedule.objects.count() == 1


def test_an_editor_who_changes_a_schedule_takes_it_over_but_not_by_switching_it_off(environment):
    team, other = environment.team, _make_editor(environment)
    schedule = create(environment)
    off = schedules.change_schedule(other, schedule.pk, revision=1, is_enabled=False)
    assert (off.owner, off.next_at, off.revision) == (team.alice, None, 2)
    with pytest.raises(Conflict):
        schedules.change_schedule(other, schedule.pk, revision=1, name="Stale")
    on = schedules.change_schedule(other, schedule.pk, revision=2, is_enabled=True, expression="0 9 * * *")
    assert (on.owner, on.expression, on.name) == (other, "0 9 * * *", "Morning")
    assert on.next_at is not None
    assert on.next_at > now()


def _make_editor(environment):
    team = environment.team
    person = make_person("Dora")
    workspaces.join_workspace(person, team.workspace.id, role="editor", invited_by=team.alice)
    chats.add_participant(team.alice, team.chat.id, person.id)
    return person


# --- firing ------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("engine")
def test_RUN26_a_schedule_that_is_due_wakes_its_agent_for_its_owner_with_its_instructions(environment):
    schedule = create(environment)
    due = make_due(schedule)
    schedules.fire_due_schedules()  # or the sweeper of the engine has done so
    environment.submit_queued_runs()
    [run] = environment.wait_until_idle()
    [line] = environment.log("AGENT_WOKEN")
    assert (run.state, run.trigger_id, run.on_behalf_of, run.woken_by) == (
        "completed",
        line.pk,
        environment.team.alice,
        environment.team.alice,
    )
    assert (line.payload["reason"], line.payload["name"]) == ("schedule", "Morning")
    assert "Read https://news.example and sum it up." in str(environment.model.requests[-1])
    time = ScheduledTime.objects.get()
    assert (time.due_at, time.state, time.missed, time.message_id) == (due, "fired", 0, line.pk)
    schedule.refresh_from_db()
    assert schedule.next_at > now()
    assert schedules.fire_due_schedules() == 0


def test_RUN26_times_that_were_missed_run_once(environment):
    schedule = create(environment, expression="*/10 * * * *")
    make_due(schedule, minutes=35)
    schedules.fire_due_schedules()
    time = ScheduledTime.objects.get()
    assert (time.state, time.missed) in (("fired", 3), ("fired", 4))  # by the minute in which this runs
    assert environment.log("AGENT_WOKEN")[0].payload["missed"] == time.missed
    assert len(environment.runs()) == 1


def test_RUN26_after_more_missed_times_than_are_counted_the_last_one_still_runs(environment):
    schedule = create(environment, expression="*/5 * * * *")
    make_due(schedule, days=5)
    schedules.fire_due_schedules()
    time = ScheduledTime.objects.get()
    assert (time.state, time.missed, len(environment.runs())) == ("fired", firing.MAX_MISSED, 1)
    assert now() - time.due_at < timedelta(minutes=6)


def test_RUN26_a_time_older_than_the_grace_is_missed(environment):
    schedule = create(environment, grace_seconds=60)
    make_due(schedule, hours=2)
    schedules.fire_due_schedules()
    time = ScheduledTime.objects.get()
    assert (time.state, time.missed, time.message_id) == ("missed", 1, None)
    assert environment.runs() == environment.log("AGENT_WOKEN") == []
    schedule.refresh_from_db()
    assert schedule.next_at > now()


def test_RUN26_sweepers_at_once_never_fire_twice(environment):
    made = [create(environment, name=f"S{number}") for number in range(12)]
    for schedule in made:
        make_due(schedule)
    barrier, fired = Barrier(4), []

    def sweep():
        try:
            barrier.wait(60)
            fired.append(schedules.fire_due_schedules())
        finally:
            connection.close()

    threads = [Thread(target=sweep) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    schedules.fire_due_schedules()  # those that were locked by the others
    assert ScheduledTime.objects.count() == len(made)
    assert len(environment.log("AGENT_WOKEN")) == len(made)
    assert len(environment.runs()) == 1  # the others join the queued run, and are read by it


def test_RUN26_a_crash_before_the_commit_leaves_the_schedule_due(environment):
    schedule = create(environment)
    due = make_due(schedule)
    with transaction.atomic():
        firing.fire_schedule(schedule.pk)
        transaction.set_rollback(True)  # as PostgreSQL does when the process is killed
    schedule.refresh_from_db()
    assert schedule.next_at == due
    assert not ScheduledTime.objects.exists()
    assert environment.runs() == []
    assert firing.fire_schedule(schedule.pk)
    assert len(environment.runs()) == 1


def test_RUN26_a_schedule_that_raises_stops_no_other_and_stays_due(environment):
    broken, other = create(environment, name="Broken"), create(environment, name="Other")
    due = make_due(broken, minutes=2)
    make_due(other)
    with refused("schedules_scheduledtime", f"NEW.schedule_id = '{broken.pk}'"):
        assert schedules.fire_due_schedules() == 1
        Schedule.objects.filter(pk=broken.pk).update(retry_at=now())
        assert schedules.fire_due_schedules() == 0
    assert list_notified("schedule_failed", "Broken") == ["Alice"]  # once a day
    assert [time.schedule for time in ScheduledTime.objects.all()] == [other]
    broken.refresh_from_db()
    assert (broken.next_at, broken.paused_reason) == (due, "")
    assert schedules.fire_due_schedules() == 0  # it waits for its next try
    Schedule.objects.filter(pk=broken.pk).update(retry_at=now())
    assert schedules.fire_due_schedules() == 1
    broken.refresh_from_db()
    assert (broken.next_at > now(), broken.retry_at) == (True, None)
    assert ScheduledTime.objects.get(schedule=broken).due_at == due


def test_RUN26_an_error_in_one_part_of_the_sweep_stops_no_other(environment, monkeypatch):
    schedule = create(environment)
    make_due(schedule)

    def fail():
        raise RuntimeError("of this test")

    monkeypatch.setattr(sweeper, "notify_expired_locks", fail)
    one = sweeper.Sweeper(cast("Any", IdleEngine()), IsolatedProcesses(1))
    done = []
    one._periodic_jobs = [sweeper.PeriodicJob(60, fail, 0.0), sweeper.PeriodicJob(60, lambda: done.append("job"), 0.0)]
    one.sweep()
    assert (ScheduledTime.objects.get().schedule, done) == (schedule, ["job"])


def test_a_schedule_that_is_off_does_not_fire(environment):
    schedule = create(environment)
    schedules.change_schedule(environment.team.alice, schedule.pk, revision=1, is_enabled=False)
    assert (schedules.fire_due_schedules(), environment.runs()) == (0, [])


def test_run_now_works_for_the_person_and_leaves_the_times(environment):
    other, schedule = _make_editor(environment), create(environment)
    id = new_id()
    message, is_new = schedules.run_schedule_now(other, schedule.pk, id=id)
    again, is_new_again = schedules.run_schedule_now(other, schedule.pk, id=id)
    assert (message.pk, is_new, again.pk, is_new_again) == (id, True, id, False)
    [run] = environment.runs()
    assert run.on_behalf_of == other
    before, schedule = schedule.next_at, Schedule.objects.get()
    assert (schedule.next_at, schedule.owner) == (before, environment.team.alice)


def test_SEC9_a_host_that_an_editor_names_in_a_schedule_may_be_fetched(environment):
    schedule = create(environment)
    texts = TextSources(environment.team.chat.id, "")
    assert not texts.is_url_allowed("https://news.example/today")
    schedules.run_schedule_now(environment.team.alice, schedule.pk)
    assert texts.is_url_allowed("https://news.example/today")
    assert not texts.is_url_allowed("https://evil.example/today")


def test_FAIR8_the_instructions_of_a_schedule_have_no_characters_that_people_do_not_see(environment):
    hidden = "".join(chr(0xE0000 + ord(char)) for char in "send it")
    schedule = create(
        environment, name="Mor\u202ening", instructions=f"Read\u202e the \x00news.{hidden}\n- in \u4e2d\u6587"
    )
    assert (schedule.name, schedule.instructions) == ("Morning", "Read the news.\n- in \u4e2d\u6587")
    with pytest.raises(Invalid):
        create(environment, instructions=hidden)
    assert Schedule.objects.count() == 1


def test_old_times_are_deleted_but_the_last_of_each_schedule(environment, settings):
    old = now() - timedelta(days=settings.WAKE_DAYS, minutes=1)
    one, other = create(environment), create(environment, name="Evening")
    ids = [uuid.UUID(int=get_lowest_id_at(old).int + number) for number in range(4)]
    for id, schedule in zip(ids, [one, one, one, other], strict=True):
        ScheduledTimeFactory.create(id=id, schedule=schedule, due_at=old + timedelta(seconds=id.int % 97))
    new = ScheduledTimeFactory.create(schedule=one)
    schedules.delete_old_times()
    assert set(ScheduledTime.objects.values_list("pk", flat=True)) == {new.pk, ids[3]}


@pytest.mark.usefixtures("engine")
def test_a_failed_run_of_a_schedule_notifies_its_owner_and_the_editors_in_its_chat_once_a_day(environment):
    schedule, dora = create(environment), _make_editor(environment)
    for count in (1, 2):
        environment.model.script(tokens=[""], finish="stop")
        schedules.run_schedule_now(dora, schedule.pk)
        environment.submit_queued_runs()
        assert [(run.state, run.error_code) for run in environment.wait_until_idle()] == [
            ("failed", "empty_answer")
        ] * count
        assert list_notified("schedule_failed") == ["Alice", "Dora"]
    with time_machine.travel(now() + timedelta(days=1)), transaction.atomic():
        schedule_failed.call(schedule)
    assert list_notified("schedule_failed") == ["Alice", "Alice", "Dora", "Dora"]
    assert not Notification.objects.filter(type="run_failed").exists()


def list_notified(type="schedule_paused", name="Morning"):
    """Return who was notified that a schedule is paused, or of something else."""
    found = Notification.objects.filter(type=type, agent_name="Robin", excerpt=name)
    return list(found.order_by("person__name").values_list("person__name", flat=True))


# --- pauses ------------------------------------------------------------------------------------------------------


def test_a_schedule_pauses_when_its_owner_leaves_and_another_editor_takes_it_over(environment):
    team, other, schedule = environment.team, _make_editor(environment), create(environment)
    with transaction.atomic():
        chats.remove_participant(other, team.chat.id, team.alice.id)
    row = read(schedule, other)
    assert (row.paused_reason, row.next_times) == ("owner_left", [])
    assert list_notified() == ["Alice"]  # Dora has removed her, and needs no notification
    assert schedules.fire_due_schedules() == 0
    taken = schedules.change_schedule(other, schedule.pk, revision=1, is_enabled=True)
    assert (taken.owner, taken.paused_reason) == (other, "")
    make_due(schedule)
    schedules.fire_due_schedules()
    assert [run.on_behalf_of for run in environment.runs()] == [other]


def test_a_schedule_pauses_when_its_agent_is_removed_or_suspended(environment):
    team, schedule = environment.team, create(environment)
    Actor.objects.filter(pk=team.robin.pk).update(status=AgentStatus.SUSPENDED)
    make_due(schedule)
    schedules.fire_due_schedules()
    assert Schedule.objects.get().paused_reason == "agent_removed"
    with pytest.raises(Conflict):
        schedules.change_schedule(team.alice, schedule.pk, revision=1, is_enabled=True)
    Actor.objects.filter(pk=team.robin.pk).update(status=AgentStatus.READY)
    schedules.change_schedule(team.alice, schedule.pk, revision=1, is_enabled=True)
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.robin.id)
    assert Schedule.objects.get().paused_reason == "agent_removed"
    assert list_notified() == ["Alice"]  # of the first pause; the second one was her own action
    assert environment.runs() == []


def test_a_schedule_pauses_while_a_budget_of_its_owner_is_used_up(environment):
    team, schedule = environment.team, create(environment)
    _make_editor(environment)
    ModelPriceFactory.create(workspace=team.workspace)
    budget = usage.create_budget(
        team.alice,
        team.workspace.id,
        scope=BudgetScope.PERSON,
        period=BudgetPeriod.DAY,
        limit_micro=0,
        subject_id=team.alice.id,
    )
    make_due(schedule)
    schedules.fire_due_schedules()
    schedule.refresh_from_db()
    assert (schedule.paused_reason, environment.runs(), list_notified()) == ("budget_used_up", [], ["Alice", "Dora"])
    # It stays due at its times, which are missed and notified no more, until the budget has room again.
    assert len(read(schedule, team.alice).next_times) == 3
    make_due(schedule)
    schedules.fire_due_schedules()
    assert [(time.state, time.missed, time.message_id) for time in ScheduledTime.objects.all()] == [
        ("missed", 1, None)
    ] * 2
    assert len(list_notified()) == 2
    usage.change_budget(team.alice, budget.pk, limit_micro=10**12, revision=budget.revision)
    make_due(schedule)
    schedules.fire_due_schedules()
    assert (read(schedule, team.alice).paused_reason, len(environment.runs())) == (None, 1)


def test_a_schedule_whose_budget_is_used_up_pauses_when_its_owner_leaves_and_not_again_when_it_is_off(environment):
    team, other, schedule = environment.team, _make_editor(environment), create(environment)
    Schedule.objects.filter(pk=schedule.pk).update(paused_reason="budget_used_up")
    off = create(environment, name="Off")
    schedules.change_schedule(team.alice, off.pk, revision=1, is_enabled=False)
    with transaction.atomic():
        chats.remove_participant(other, team.chat.id, team.alice.id)
    assert {(row.name, row.paused_reason, row.next_at) for row in Schedule.objects.all()} == {
        ("Morning", "owner_left", None),
        ("Off", "owner_left", None),
    }
    assert list_notified() == ["Alice"]
