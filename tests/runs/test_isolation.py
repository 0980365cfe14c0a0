"""RUN9: a run that kills its process each time is tried three times and fails; other runs of the process are completed."""

import resource

import pytest
from django.db import transaction

from chats import services as chats
from common.clock import now
from runs.kinds.base import build_run_update
from runs.models import Run
from runs.runtime.sub_agents import SUB_AGENT_WAITS
from runs.services import claims
from runs.services.claims import reserve_isolated_runs
from runs.services.waiting import queue_decided_run
from tests.chaos import IS_CHAOS
from tests.factories.agents import add_tool_use
from tests.factories.approvals import ApprovalFactory
from tests.factories.runs import RunFactory

pytestmark = pytest.mark.django_db(transaction=True)

HOW = ["memory", "segfault", "exit"] if IS_CHAOS else ["memory"]
OTHER_RUNS = 7 if HOW == ["memory"] else 19
# Of address space, as `ulimit -v` sets it: a worker needs 1.3 GB of it at rest. What is left is filled while nothing else runs.
LIMIT = 5 * 1024**3 // 2


def create_chats(environment, count):
    team = environment.team
    return [
        chats.create_chat(team.alice, team.workspace.id, title=f"{n}", actor_ids=[team.robin.id]) for n in range(count)
    ]


@pytest.mark.stack
@pytest.mark.parametrize("how", HOW)
def test_RUN9_a_run_that_crashes_its_process_is_tried_three_times_and_other_runs_do_not_fail(
    environment, start_worker, how
):
    add_tool_use(environment.team.robin.current_spec, "crash_process")
    environment.model.script(text="Hello!", first=4.0)
    call = {"name": "crash_process", "arguments": f'{{"how": "{how}"}}'}
    environment.model.script(match="drink", calls=[call], first=2.0)

    def worker():
        worker = start_worker(DJANGO_SETTINGS_MODULE="tests.extra_tools.settings")
        resource.prlimit(worker.pid, resource.RLIMIT_AS, (LIMIT, LIMIT))
        return worker

    first = worker()
    for chat in create_chats(environment, OTHER_RUNS):
        environment.post("hello", chat=chat)
    environment.post("drink")
    environment.wait(lambda: Run.objects.filter(state="running").count() == OTHER_RUNS + 1, 15)
    environment.wait(lambda: first.process.poll() is not None, 60)
    second = worker()
    environment.wait(lambda: second.process.poll() is not None, 60)
    third = worker()
    [later] = create_chats(environment, 1)
    environment.post("hello", chat=later)
    environment.wait(lambda: Run.objects.filter(state__in=["completed", "failed"]).count() == OTHER_RUNS + 2, 120)

    crashed = Run.objects.get(chat=environment.team.chat)
    assert (crashed.state, crashed.error_code) == ("failed", "crash_loop")
    # While memory fills, a worker may fail to extend its leases: then it starts the run again without a crash.
    assert crashed.crashes == 3
    assert [row.type for row in environment.log()] == ["TEXT_MESSAGE", "TOOL_CALL", "TOOL_RESPONSE", "RUN_FAILED"]
    others = Run.objects.exclude(pk=crashed.pk)
    assert set(others.values_list("state", flat=True)) == {"completed"}
    assert max(others.values_list("crashes", flat=True)) <= 2
    assert others.get(chat=later).attempt == 1
    # The worker lives, because it does not execute the isolated run.
    assert third.process.poll() is None


def test_RUN9_a_run_with_two_crashes_is_claimed_by_an_isolated_process_only(environment):
    environment.post("hello")
    [run] = environment.runs()
    for crashes, isolated in ((0, []), (1, []), (2, [run.id])):
        Run.objects.update(crashes=crashes, dispatched_at=None)
        assert [waiting.id for waiting in claims.list_waiting(5)] == ([] if isolated else [run.id])
        assert reserve_isolated_runs(0) == []
        assert reserve_isolated_runs(4) == isolated
        assert reserve_isolated_runs(4) == []
    assert claims.claim_run(run.id, "here:1:a") is None
    claimed = claims.claim_run(run.id, "here:1:a", isolated=True)
    assert claimed is not None
    assert claimed.row == run


def test_RUN9_an_isolated_run_that_waited_is_reserved_for_a_process_at_once(environment):
    """After a decision, and after tasks of which none was left to wait for."""
    team = environment.team
    decided = RunFactory.create(chat=team.chat, agent=team.robin, state="waiting_approval", attempt=1, crashes=2)
    approval = ApprovalFactory.create(
        run_id=decided.id, chat=team.chat, agent=team.robin, decision="approved", decided_at=now()
    )
    caller = RunFactory.create(chat=team.chat, agent=team.robin, running=True, crashes=2)
    update = build_run_update(caller, state="running")
    with transaction.atomic():
        chats.lock_chat(team.chat.id)
        assert SUB_AGENT_WAITS.start(update, []) == []
        chats.save_changes(team.chat.id, [*queue_decided_run([approval]), update])
    assert reserve_isolated_runs(4) == [decided.id, caller.id]
