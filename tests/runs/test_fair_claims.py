"""FAIR1: no workspace and no person uses the slots of all others: shares, turns, and which runs count."""

from itertools import count

import pytest
from django.db import connection, transaction
from django.db.models import F

from agents.services import drafts
from chats import services as chats
from chats.models import Chat
from common.ids import new_id
from events.rows import Role
from runs.kinds import chat as kinds
from runs.kinds.job import JobInput
from runs.models import Run, build_concurrency_key
from runs.prepared_queries import NEXT_OF_SAME_KEY
from runs.selectors import count_runs_ahead
from runs.services import claims, comparisons, runs
from runs.services.capacity import Capacity
from runs.services.runs import start_job
from suggestions.run_kinds import SUMMARY
from tests.factories.runs import RunFactory
from tests.people import make_agent, make_person, make_team
from tests.scripted_model import overlap
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db(transaction=True)

_numbers = count()


@pytest.fixture
def slots(settings):
    """20 slots, 8 for a workspace, 5 for a person."""
    settings.RUNS_PER_WORKER, settings.RUNS_PER_WORKSPACE, settings.RUNS_PER_PERSON = 20, 8, 5
    return Capacity()


def queued(team, number, *, person=None, workspace=None):
    """Return queued runs, each with its own concurrency key."""
    return Run.objects.bulk_create(
        RunFactory.build_batch(
            number,
            workspace=workspace or team.workspace,
            chat=team.chat,
            agent=team.robin,
            spec=team.robin.current_spec,
            on_behalf_of=person or team.alice,
            origin="compare",
            stamp={"spec_id": str(team.robin.current_spec_id), "version": 1},
        )
    )


def claim_all(slots):
    """Return the runs that a worker with free slots claims, in the order of their start."""
    claimed = []
    for id in slots.choose_runs(claims.list_waiting(200, excluded=slots.list_full_ids())):
        run = claims.claim_run(id, "here:1:a", slots=slots)
        assert run is not None
        claimed.append(run.row)
    return claimed


def test_FAIR1_hundreds_of_queued_runs_of_a_workspace_do_not_delay_a_message_of_another(environment, slots):
    queued(environment.team, 300)
    other = make_team(" of another")
    with transaction.atomic():
        chats.post_message(other.alice, other.chat.id, text="hello")
    started = claim_all(slots)
    assert started[1].workspace_id == other.workspace.id, "the other tenant's run is claimed in its first turn"
    assert [run.workspace_id for run in started].count(environment.team.workspace.id) == 5
    # Later runs find a free slot, too.
    with transaction.atomic():
        chats.post_message(other.bob, other.chat.id, text="and another")
        made = make_agent(other.workspace, other.alice, "Second")
        chats.add_participant(other.alice, other.chat.id, made.id)
        chats.post_message(other.bob, other.chat.id, text="@second you, too")
    waiting = Run.objects.get(agent=made)
    assert claims.claim_run(waiting.id, "here:1:a", slots=slots) is not None


def test_FAIR1_a_workspace_has_a_share_of_slots_and_so_has_each_person(environment, slots):
    team = environment.team
    for person in (team.alice, team.bob):
        queued(team, 50, person=person)
    started = claim_all(slots)
    assert sorted([run.on_behalf_of_id for run in started].count(id) for id in (team.alice.id, team.bob.id)) == [4, 4]
    assert claim_all(slots) == []
    refused = Run.objects.filter(state="queued")[0]
    assert claims.claim_run(refused.id, "here:1:a", slots=slots) is None
    refused.refresh_from_db()
    assert (refused.state, refused.attempt) == ("queued", 0)
    slots.release_slot(started[0].id)
    assert len(claim_all(slots)) == 1


def test_FAIR1_a_message_does_not_wait_for_the_sub_agents_of_another(environment, slots):
    """The trees of one person take turns: the second run of a tree comes after the first of each other."""
    team = environment.team
    root = RunFactory.create(chat=team.chat, agent=team.robin, on_behalf_of=team.alice, state="waiting_child")
    children = queued(team, 50)
    changed: dict[str, object] = {"kind": "sub_agent", "root": root, "parent": root, "call_id": F("id"), "input": {}}
    Run.objects.filter(pk__in=[run.pk for run in children]).update(**changed)
    [message] = queued(team, 1)
    started = [id for id, *_ in claims.list_waiting(10)]
    assert started[:3] == [children[0].id, message.id, children[1].id]
    assert count_runs_ahead(Run.objects.get(pk=message.id)) == 1
    assert count_runs_ahead(Run.objects.get(pk=children[1].id)) == 2
    assert count_runs_ahead(root) is None


def test_FAIR1_the_queue_of_a_workspace_is_counted_without_those_of_others(environment):
    team, other = environment.team, make_team(" of another")
    queued(other, 30, person=other.alice)
    first, second = queued(team, 2)
    assert [count_runs_ahead(run) for run in (first, second)] == [0, 1]


def test_FAIR1_a_person_has_one_share_in_all_their_workspaces(environment, slots):
    team = environment.team
    second = workspaces.create_workspace(team.alice, name="Second")
    queued(team, 20)
    queued(team, 20, workspace=second)
    with pytest.MonkeyPatch.context() as patch:
        # The agent is not in the second workspace; the rights of runs are not tested here.
        patch.setattr(
            kinds, "lock_chat_of_run", lambda run: Chat.objects.select_related("workspace").get(pk=run.chat_id)
        )
        started = claim_all(slots)
    assert len(started) == 5
    assert {run.workspace_id for run in started} == {team.workspace.id, second.id}


def test_FAIR1_many_tenants_together_leave_a_slot_for_the_next(slots):
    """The more workspaces and people share the slots, the fewer each gets."""
    tenants = [new_id() for _ in range(5)]
    reserved = [slots.reserve_slot(Run(workspace_id=id, on_behalf_of_id=None)) for _ in range(20) for id in tenants]
    assert 15 <= sum(reserved) < 20
    assert slots.reserve_slot(Run(workspace_id=new_id(), on_behalf_of_id=new_id()))


def test_FAIR1_a_run_that_is_claimed_twice_at_once_uses_one_slot(slots, settings):
    """A task and the sweeper may submit the same run; only one of the two claims succeeds."""
    settings.RUNS_PER_PERSON = 2
    person_id = new_id()
    run, *others = (Run(workspace_id=new_id(), on_behalf_of_id=person_id) for _ in range(3))
    assert [slots.reserve_slot(run), slots.reserve_slot(run)] == [True, False]
    slots.release_slot(run.pk)
    assert [slots.reserve_slot(other) for other in others] == [True, True]


def test_FAIR1_comparisons_retries_and_jobs_are_counted(environment, slots, settings):
    settings.RUNS_PER_PERSON = 3
    team = environment.team
    where = {"actor": team.alice, "chat_id": team.chat.id, "agent_id": team.robin.id}
    draft = drafts.claim_draft(**where)
    drafts.apply_draft(**where, revision=draft.revision)
    comparisons.start_comparison(**where, id=new_id(), text="Which?", revision=None)
    failed = RunFactory.create(
        chat=team.chat,
        agent=team.robin,
        on_behalf_of=team.alice,
        state="failed",
        trigger_id=new_id(),
        concurrency_key=build_concurrency_key(team.robin.id, team.chat.id, "chat"),
    )
    again = runs.retry_run(actor=team.alice, run_id=failed.id)
    with transaction.atomic():
        job = start_job(
            team.alice,
            team.workspace.id,
            kind=SUMMARY,
            subject_id=new_id(),
            job_input=JobInput("?", {}, 10),
        )
    assert {run.origin for run in claim_all(slots)} == {"compare", "retry"}
    assert claims.claim_run(job.id, "here:1:a", slots=slots) is None
    slots.release_slot(again.id)
    assert claims.claim_run(job.id, "here:1:a", slots=slots) is not None


def test_FAIR1_a_claim_needs_no_more_queries_with_shares(environment, slots, django_assert_num_queries):
    environment.post("warm")
    environment.post("hello", chat=_create_second_chat(environment))
    first, second = Run.objects.order_by("pk")
    claims.claim_run(first.id, "here:1:a", slots=slots)
    with django_assert_num_queries(6):
        claims.claim_run(second.id, "here:1:a", slots=slots)


def test_FAIR1_a_refused_claim_costs_one_query(environment, slots, django_assert_num_queries, settings):
    settings.RUNS_PER_PERSON = 1
    first, second = queued(environment.team, 2)
    assert claims.claim_run(first.id, "here:1:a", slots=slots) is not None
    with django_assert_num_queries(1):
        assert claims.claim_run(second.id, "here:1:a", slots=slots) is None


def test_FAIR1_undispatched_runs_are_picked_in_turns(environment):
    """A run without a task is found, however many older runs of others wait."""
    queued(environment.team, 250)
    dora = make_person("Dora")
    with transaction.atomic():
        workspaces.join_workspace(
            dora, environment.team.workspace.id, role=Role.SUGGESTER, invited_by=environment.team.alice
        )
    [late] = queued(environment.team, 1, person=dora)
    assert late.id in claims.pick_runs_to_dispatch_again(0, limit=10)
    assert environment.team.alice.id not in {
        run.person_id for run in claims.list_waiting(10, excluded=[environment.team.alice.id])
    }


@pytest.mark.usefixtures("engine")
def test_FAIR1_runs_beyond_the_share_wait_and_are_executed(environment, settings):
    settings.RUNS_PER_WORKER, settings.RUNS_PER_WORKSPACE, settings.RUNS_PER_PERSON = 8, 3, 2
    environment.model.script(text="answer", first=0.05)
    team = environment.team
    for number in range(7):
        environment.post("hello", chat=_create_second_chat(environment), by=(team.alice, team.bob)[number % 2])
    environment.wait_until_idle()
    assert set(Run.objects.values_list("state", flat=True)) == {"completed"}
    assert len(environment.model.requests) == 7
    assert overlap(environment.model.requests) <= 3


def _create_second_chat(environment):
    team = environment.team
    with transaction.atomic():
        return chats.create_chat(
            team.alice, team.workspace.id, title=f"{next(_numbers)}", actor_ids=[team.robin.id, team.bob.id]
        )


def runs_read():
    """Return how many rows of runs this transaction has read."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables WHERE relname = 'runs_run'"
        )
        return cursor.fetchone()[0]


@pytest.mark.parametrize("plan", ["force_custom_plan", "force_generic_plan"])
def test_FAIR1_a_claim_reads_the_runs_of_its_concurrency_key_only(environment, plan):
    queued(environment.team, 500)
    mine = queued(environment.team, 1)[0]
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("ANALYZE runs_run")  # as autovacuum does
        cursor.execute(f"SET LOCAL plan_cache_mode = {plan}")
        before = runs_read()
        for _ in range(10):  # from the sixth on it is a prepared statement
            assert NEXT_OF_SAME_KEY.first(mine.id) == mine
        assert runs_read() - before <= 10 * 4
