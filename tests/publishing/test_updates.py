"""Updates of the chats and users of a public agent: in batches, once, and finished by the sweeper where a worker has died."""

from datetime import timedelta
from itertools import count

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext

from actors.models import Actor
from agents.hooks import public_agent_renamed
from agents.permissions import get_production
from chats import services as chats
from chats.models import ChatActor, Message
from common.clock import now
from events.rows import ListingCategory
from notifications.models import Notification
from notifications.services import notifying
from publishing import services as publishing
from publishing import tasks
from publishing.models import PendingUpdate
from publishing.services import updates
from tests.factories.agents import add_tool_use, change_spec
from tests.factories.workspaces import grant_right
from tests.people import make_agent, make_operator, make_person
from tests.publishing.publications import LISTING, add_to_chat, finish_updates, publish, update
from tools.registry import build_agent_tool_name
from worker.sweeper import Sweeper
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db

LINES = {"version": "AGENT_PUBLISHED", "takedown": "AGENT_TAKEN_DOWN"}


class Killed(BaseException):
    """The end of a worker in the middle of its task."""


@pytest.fixture
def sent(monkeypatch):
    """The tasks that were sent."""
    sent = []
    for module in (updates, tasks):
        monkeypatch.setattr(module, "send_task_now", lambda name, arguments: sent.append((name, arguments)))
    return sent


def execute_tasks(sent):
    """Execute tasks until there are no more. Return their number."""
    number = 0
    while sent:
        name, arguments = sent.pop(0)
        getattr(tasks, name.removeprefix("publishing.tasks."))(*arguments)
        number += 1
    return number


def change(team, copy, what):
    """Publish a version, take the agent down, or rename it as a new release does."""
    if what == "version":
        change_spec(team.robin.current_spec, prompt="Newer.")
        update(team)
    elif what == "takedown":
        publishing.take_down_agent(team.alice, copy.id, reason="It is wrong.")
    else:
        Actor.objects.filter(pk=copy.pk).update(name="Interpreter 2", normalized_name="interpreter 2")
        copy.refresh_from_db()
        public_agent_renamed.call(copy)


def give_as_tool(agent, public):
    """Let the production version of an agent call a public agent."""
    spec = get_production(Actor.objects.get(pk=agent.pk))
    add_tool_use(spec, build_agent_tool_name(public.id))


def fail_at(monkeypatch, number, error):
    """Raise an error instead of updating the chat of this number, from 1."""
    original, numbers = updates._update_chat, count(1)

    def update_chat(*arguments):
        if next(numbers) == number:
            raise error
        original(*arguments)

    monkeypatch.setattr(updates, "_update_chat", update_chat)


def list_notified():
    return list(
        Notification.objects.order_by("person__name").values_list("person__name", "workspace__name", "actor_name")
    )


@pytest.mark.parametrize("what", ["version", "takedown", "rename"])
def test_an_update_whose_worker_dies_in_the_second_batch_is_finished_by_the_sweeper(
    team, monkeypatch, django_capture_on_commit_callbacks, sent, what
):
    monkeypatch.setattr(updates, "CHATS_PER_BATCH", 2)
    copy = publish(team)
    finish_updates()
    rooms = [add_to_chat(team, copy) for _ in range(5)]
    before = dict(ChatActor.objects.filter(actor=copy).values_list("chat", "version"))
    with django_capture_on_commit_callbacks(execute=True):
        change(team, copy, what)
    assert [name for name, _ in sent] == ["publishing.tasks.continue_update"]

    with monkeypatch.context() as patch:
        fail_at(patch, 4, Killed())
        with pytest.raises(Killed):
            execute_tasks(sent)
    publishing.resume_updates()
    assert sent == []  # it may still be under way
    PendingUpdate.objects.update(resume_at=now() - timedelta(seconds=1))
    for _ in range(2):
        publishing.resume_updates()
    assert [name for name, _ in sent] == ["publishing.tasks.continue_update"]
    assert execute_tasks(sent) == 2

    after = dict(ChatActor.objects.filter(actor=copy).values_list("chat", "version"))
    assert sorted(after) == sorted(room.id for room in rooms)
    assert all(after[room] > before[room] for room in after)
    if what in LINES:
        assert list(Message.objects.filter(type=LINES[what]).order_by("chat").values_list("chat", flat=True)) == [
            *sorted(after)
        ]
        assert list_notified() == [("Charlie", "Elsewhere", "")]
    assert not PendingUpdate.objects.exists()
    publishing.resume_updates()
    assert sent == []


@pytest.mark.parametrize("what", LINES)
def test_a_task_that_is_executed_twice_posts_and_notifies_once(team, what):
    copy = publish(team)
    finish_updates()
    add_to_chat(team, copy)
    change(team, copy, what)
    [row] = PendingUpdate.objects.values()
    for _ in range(2):
        finish_updates()
        PendingUpdate.objects.create(**row)
    assert Message.objects.filter(type=LINES[what]).count() == Notification.objects.count() == 1


def test_a_chat_that_could_not_be_updated_is_tried_again(team, monkeypatch, sent):
    copy = publish(team)
    finish_updates()
    rooms = [add_to_chat(team, copy) for _ in range(3)]
    change(team, copy, "takedown")
    with monkeypatch.context() as patch:
        fail_at(patch, 2, DatabaseError("The lock was not free."))
        finish_updates()
    assert Message.objects.filter(type="AGENT_TAKEN_DOWN").count() == 2
    PendingUpdate.objects.update(resume_at=now() - timedelta(seconds=1))
    publishing.resume_updates()
    execute_tasks(sent)
    assert Message.objects.filter(type="AGENT_TAKEN_DOWN").values("chat").distinct().count() == len(rooms)
    assert not PendingUpdate.objects.exists()


def test_an_update_is_given_up_after_two_days(team, sent):
    publish(team)
    PendingUpdate.objects.update(created_at=now() - timedelta(days=2), resume_at=now())
    publishing.resume_updates()
    assert (PendingUpdate.objects.count(), sent) == (0, [])


@pytest.mark.parametrize("task", [tasks.resume_updates, tasks.count_use])
def test_the_sweeper_sends_each_periodic_task(task):
    jobs = Sweeper(None, None)._periodic_jobs  # type: ignore[arg-type]
    assert (task.name, []) in [getattr(job.work, "args", None) for job in jobs]


# --- who is notified ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", LINES)
def test_users_and_those_who_edit_a_caller_are_notified_by_the_task_and_only_the_publisher_reads_the_name(team, what):
    workspaces.change_role(team.alice, team.workspace.id, team.bob.id, role="editor")
    copy = publish(team)
    finish_updates()
    assert list_notified() == [("Bob", "Lighthouse", "Alice")]
    Notification.objects.all().delete()
    add_to_chat(team, copy)
    # Dora edits an agent that has it as a tool; Eve may save that agent by a grant, and Finn is only a member.
    dora, eve, finn, gina = (make_person(name) for name in ("Dora", "Eve", "Finn", "Gina"))
    theirs = workspaces.create_workspace(dora, name="Theirs")
    for person in (eve, finn):
        workspaces.join_workspace(person, theirs.id, role="suggester", invited_by=dora)
    caller = make_agent(theirs, dora, "Writer")
    grant_right(eve, "save_agent_actor", caller)
    give_as_tool(caller, copy)
    # Gina has published an agent that has it as a tool. Alice, who makes the change, is an editor there, too.
    ginas = workspaces.create_workspace(gina, name="Ginas")
    workspaces.join_workspace(team.alice, ginas.id, role="editor", invited_by=gina)
    public_caller = publishing.publish_agent(
        gina,
        make_agent(ginas, gina, "Reader").id,
        name="Reader",
        handle="reader",
        description="Reads.",
        category=ListingCategory.OTHER,
    )
    give_as_tool(public_caller, copy)
    finish_updates()
    Notification.objects.all().delete()

    change(team, copy, what)
    assert not Notification.objects.exists()
    finish_updates()
    assert list_notified() == [
        ("Bob", "Lighthouse", "Alice"),
        ("Charlie", "Elsewhere", ""),
        ("Dora", "Theirs", ""),
        ("Eve", "Theirs", ""),
        ("Gina", "Ginas", ""),
    ]
    [(type, agent_name, excerpt)] = set(Notification.objects.values_list("type", "agent_name", "excerpt"))
    assert (type, agent_name) == (f"agent_{'published' if what == 'version' else 'taken_down'}", "Interpreter")
    assert excerpt == ("v2" if what == "version" else "It is wrong.")


@pytest.mark.parametrize("is_operator", [False, True])
def test_a_person_of_two_workspaces_is_notified_once_and_in_that_of_the_publisher(team, is_operator):
    """Alice and Charlie are in both workspaces. Charlie's agent is published in the one that was created later."""
    workspaces.join_workspace(team.alice, team.elsewhere.id, role="editor", invited_by=team.charlie)
    workspaces.join_workspace(team.charlie, team.workspace.id, role="editor", invited_by=team.alice)
    source = make_agent(team.elsewhere, team.charlie, "Source")
    copy = publishing.publish_agent(team.charlie, source.id, name="Public", handle="public", **LISTING)
    finish_updates()
    chats.create_chat(team.alice, team.workspace.id, title="", actor_ids=[copy.id, team.charlie.id])
    Notification.objects.all().delete()
    actor = make_operator() if is_operator else team.charlie
    publishing.take_down_agent(actor, copy.id, reason="It is wrong.", as_operator=is_operator)
    finish_updates()
    expected = [("Alice", "Elsewhere", "Charlie")]
    if is_operator:
        expected = [("Alice", "Elsewhere", ""), ("Charlie", "Elsewhere", "")]
    assert list_notified() == expected


def test_an_operator_is_not_named(team):
    copy = publish(team)
    finish_updates()
    operator = make_operator()
    workspaces.join_workspace(operator, team.workspace.id, role="editor", invited_by=team.alice)
    publishing.take_down_agent(operator, copy.id, reason="It sends texts away.", as_operator=True)
    finish_updates()
    assert list_notified() == [("Alice", "Lighthouse", "")]


def test_people_who_came_after_the_change_are_not_notified_of_it(team):
    copy = publish(team)
    finish_updates()
    chat = add_to_chat(team, copy)
    dora, eve = make_person("Dora"), make_person("Eve")
    for person in (dora, eve):
        workspaces.join_workspace(person, team.elsewhere.id, role="suggester", invited_by=team.charlie)
    change(team, copy, "version")
    chats.add_participant(team.charlie, chat.id, dora.id)
    chats.create_chat(eve, team.elsewhere.id, title="", actor_ids=[copy.id])
    Notification.objects.all().delete()
    finish_updates()
    assert list_notified() == [("Charlie", "Elsewhere", "")]


def test_the_people_of_all_workspaces_are_notified_in_batches_of_as_many_queries_at_any_size(team, monkeypatch):
    copy = publish(team)
    finish_updates()
    dora, eve = make_person("Dora"), make_person("Eve")

    def add_workspaces(number):
        for index in range(number):
            person = make_person(f"Person {Actor.objects.count()}")
            workspace = workspaces.create_workspace(person, name=f"Workspace {index}")
            workspaces.join_workspace(dora, workspace.id, role="editor", invited_by=person)
            workspaces.join_workspace(eve, workspace.id, role="suggester", invited_by=person)
            give_as_tool(make_agent(workspace, person, f"Writer {index}"), copy)
            chats.create_chat(eve, workspace.id, title="", actor_ids=[copy.id])

    def count_queries():
        row = PendingUpdate.objects.select_related("agent", "version__author").get()
        with CaptureQueriesContext(connection) as queries:
            assert not updates._notify_next_people(row)
        return len(queries)

    add_workspaces(2)
    change(team, copy, "version")
    few = count_queries()
    assert Notification.objects.count() == 4
    Notification.objects.all().delete()
    PendingUpdate.objects.all().delete()
    add_workspaces(8)
    change(team, copy, "takedown")
    assert count_queries() == few
    assert Notification.objects.count() == 12

    Notification.objects.all().delete()
    PendingUpdate.objects.update(after_workspace=None)
    monkeypatch.setattr(updates, "WORKSPACES_PER_BATCH", 3)
    monkeypatch.setattr(notifying, "NOTIFIED_AT_ONCE", 2)
    [row] = PendingUpdate.objects.all()
    batches = 1
    while publishing.continue_update(row.id):
        batches += 1
    assert batches == 4
    assert Notification.objects.count() == 12


def test_a_takedown_makes_as_many_queries_for_any_number_of_callers(team):
    def count_queries(number):
        source = make_agent(team.workspace, team.alice, f"Source {number}")
        copy = publishing.publish_agent(
            team.alice, source.id, name=f"Public {number}", handle=f"public-{number}", **LISTING
        )
        for index in range(number):
            give_as_tool(make_agent(team.elsewhere, team.charlie, f"Writer {number} {index}"), copy)
        with CaptureQueriesContext(connection) as queries:
            publishing.take_down_agent(team.alice, copy.id)
        return len(queries)

    assert count_queries(1) == count_queries(9)
