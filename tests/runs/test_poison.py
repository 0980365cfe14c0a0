"""RUN9: a run that kills its process each time is tried three times and fails; other runs of the process are completed."""

import resource

import pytest

from chats import services as chats
from runs.models import Run
from runs.services import claims
from runs.services.claims import reserve_poison_runs
from tests.chaos import IS_CHAOS

pytestmark = pytest.mark.django_db(transaction=True)

HOW = ["memory", "segfault", "exit"] if IS_CHAOS else ["memory"]
OTHER_RUNS = 7 if HOW == ["memory"] else 19
# Of address space, as `ulimit -v` sets it: a worker needs 2 GB of it at rest.
LIMIT = 4 * 1024**3


def create_chats(environment, count):
    team = environment.team
    return [
        chats.create_chat(team.alice, team.workspace.id, title=f"{n}", actor_ids=[team.robin.id]) for n in range(count)
    ]


@pytest.mark.stack
@pytest.mark.parametrize("how", HOW)
def test_RUN9_a_poison_run_is_tried_three_times_and_other_runs_do_not_fail(environment, start_worker, how):
    environment.team.robin.current_spec.tool_configs.create(position=9, tool="poison")
    environment.model.script(text="I was only near.", first=4.0)
    call = {"name": "poison", "arguments": f'{{"how": "{how}"}}'}
    environment.model.script(match="drink", calls=[call], first=2.0)

    def worker():
        worker = start_worker(DJANGO_SETTINGS_MODULE="tests.poison.settings")
        resource.prlimit(worker.pid, resource.RLIMIT_AS, (LIMIT, LIMIT))
        return worker

    first = worker()
    for chat in create_chats(environment, OTHER_RUNS):
        environment.post("hello", chat=chat)
    environment.post("drink")
    environment.wait(lambda: Run.objects.filter(state="running").count() == OTHER_RUNS + 1, 15)
    environment.wait(lambda: first.process.poll() is not None, 20)
    second = worker()
    environment.wait(lambda: second.process.poll() is not None, 20)
    third = worker()
    [later] = create_chats(environment, 1)
    environment.post("hello", chat=later)
    environment.wait(lambda: Run.objects.filter(state__in=["completed", "failed"]).count() == OTHER_RUNS + 2, 120)

    poisonous = Run.objects.get(chat=environment.team.chat)
    assert (poisonous.state, poisonous.error_code) == ("failed", "crash_loop")
    # While memory fills, a worker may fail to extend its leases: then it starts the run again without a crash.
    assert poisonous.crashes == 3
    assert [row.type for row in environment.log()] == ["TEXT_MESSAGE", "TOOL_CALL", "TOOL_RESPONSE", "RUN_FAILED"]
    others = Run.objects.exclude(pk=poisonous.pk)
    assert set(others.values_list("state", flat=True)) == {"completed"}
    assert max(others.values_list("crashes", flat=True)) <= 2
    assert others.get(chat=later).attempt == 1
    # The worker lives, because it does not execute the poison run.
    assert third.process.poll() is None


def test_RUN9_a_run_with_two_crashes_is_claimed_by_an_isolated_process_only(environment):
    environment.post("hello")
    [run] = environment.runs()
    for crashes, alone in ((0, []), (1, []), (2, [run.id])):
        Run.objects.update(crashes=crashes, dispatched_at=None)
        assert [one.id for one in claims.list_waiting(5)] == ([] if alone else [run.id])
        assert reserve_poison_runs(0) == []
        assert reserve_poison_runs(4) == alone
        assert reserve_poison_runs(4) == []
    assert claims.claim_run(run.id, "here:1:a") is None
    assert claims.claim_run(run.id, "here:1:a", isolated=True) == run
