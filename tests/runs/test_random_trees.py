"""Random trees of sub-agents whose workers are killed, and that are stopped: real processes, real servers (RUN16, RUN23)."""

import json
import random
import time
from collections import Counter

import pytest
from django.db import transaction
from django.db.models import Sum

from chats.models import Message
from common.errors import Conflict
from runs.models import NOT_ENDED, Run
from runs.services import runs
from tests.chaos import IS_CHAOS, N, report
from tests.factories.agents import add_tool_use
from tests.people import make_agent
from usage.models import LLMCall

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.stack]

DEPTH = 3
KILLED_TREES = N if IS_CHAOS else 1
STOPPED_TREES = N if IS_CHAOS else 1


@pytest.fixture
def handles(environment):
    """Agents of each depth, which may give tasks to those of the next depth: an agent never waits for itself."""
    with transaction.atomic():
        agents = [
            make_agent(environment.team.workspace, environment.team.alice, f"Level {depth}", prompt=f"Depth {depth}.")
            for depth in range(1, DEPTH + 1)
        ]
    for caller, called in zip([environment.team.robin, *agents], agents, strict=False):
        add_tool_use(
            caller.current_spec, "delegate", custom_config={"allowed_sub_agents": [called.handle], "max_depth": 5}
        )
    return [agent.handle for agent in agents]


def build_script(chance, handles, depth=0):
    """Return the script of an agent as text: it gives random tasks, whose texts are the scripts of other agents, and answers."""
    script = {"text": f"Answer {chance.random()} of depth {depth}.", "every": 0.01}
    if depth < DEPTH and chance.random() < (1.0 if depth == 0 else 0.6):
        tasks = [build_script(chance, handles, depth + 1) for _ in range(chance.randint(1, 3))]
        calls = [
            {"name": "delegate", "arguments": json.dumps({"name": handles[depth], "task": task})} for task in tasks
        ]
        script = {"calls": calls, "text": "I ask others.", "then": script}
    return f"<<script {json.dumps(script)}>>"


def count_tasks(script):
    """Return the number of tasks in a script, with those of its tasks."""
    calls = json.loads(script.removeprefix("<<script ").removesuffix(">>")).get("calls", [])
    return sum(1 + count_tasks(json.loads(call["arguments"])["task"]) for call in calls)


def check_tree(tree):
    """Check that each task was done once, that each call has one result, and that the ledger has what the runs have used."""
    rows = Message.objects.filter(run_id__in=[run.id for run in tree])
    calls = Counter(rows.filter(type="TOOL_CALL").values_list("payload__call_id", flat=True))
    results = Counter(rows.filter(type="TOOL_RESPONSE").values_list("payload__tool_call_id", flat=True))
    assert calls == results
    assert set(calls.values()) <= {1}
    children = Counter(run.call_id for run in tree if run.parent_id)
    assert set(children.values()) <= {1}
    assert set(children) <= set(calls)
    assert all(row.metadata for row in rows.exclude(run_id=tree[0].id))
    totals = LLMCall.objects.filter(tree_id=tree[0].id).aggregate(
        read=Sum("input_tokens"), written=Sum("output_tokens")
    )
    assert totals == {
        "read": sum(run.input_tokens for run in tree),
        "written": sum(run.output_tokens for run in tree),
    }


def post_tree(environment, handles, chance):
    script = build_script(chance, handles)
    message = environment.post(f"@robin {script}")
    return Run.objects.get(trigger_id=message.id), count_tasks(script)


def list_tree(root):
    return [Run.objects.get(pk=root.pk), *Run.objects.filter(root=root.pk).order_by("pk")]


def test_RUN23_every_task_of_a_tree_is_done_once_although_workers_are_killed(environment, start_worker, handles):
    chance = random.Random(time.time_ns() if IS_CHAOS else 7)
    workers = [start_worker(), start_worker()]
    for _ in range(KILLED_TREES):
        root, tasks = post_tree(environment, handles, chance)
        for _ in range(2):
            time.sleep(chance.uniform(0.1, 1.2))
            place = chance.randrange(2)
            workers[place].kill()
            workers[place] = start_worker()
        environment.wait_until_idle(60)
        tree = list_tree(root)
        assert {run.state for run in tree} == {"completed"}
        assert len(tree) == tasks + 1
        check_tree(tree)
        report(f"a tree of {len(tree)} runs, with {sum(run.crashes for run in tree)} crashes")


def test_RUN16_nothing_of_a_tree_runs_after_a_stop(environment, start_worker, handles):
    chance = random.Random(time.time_ns() if IS_CHAOS else 11)
    start_worker()
    took = []
    for _ in range(STOPPED_TREES):
        root, _ = post_tree(environment, handles, chance)
        environment.wait(lambda root=root: Run.objects.filter(root=root.pk).exists(), 15)
        time.sleep(chance.uniform(0.0, 0.5))
        asked = time.monotonic()
        try:
            runs.stop_run(environment.team.alice, root.pk)
        except Conflict:  # it was over
            continue
        environment.wait(lambda root=root: not any(run.state in NOT_ENDED for run in list_tree(root)), 10)
        took.append(time.monotonic() - asked)
        requests = len(environment.model.requests)
        states = {run.state for run in list_tree(root)}
        assert states <= {"stopped", "completed"}
        time.sleep(1)
        assert len(environment.model.requests) == requests
        assert {run.state for run in list_tree(root)} == states
        check_tree(list_tree(root))
    report(f"{len(took)} trees stopped: most {max(took, default=0):.3f} s")
