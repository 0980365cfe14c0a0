"""B9: a run that takes its process down each time is tried three times and fails; those beside it come to their ends."""

import os
import resource

import pytest

from agents.models import Run
from agents.services.suspects import spread
from chats import services as chats

pytestmark = pytest.mark.django_db(transaction=True)

HOW = ["memory"] if os.environ.get("CHAOS_N", "2") == "2" else ["memory", "segfault", "exit"]
NEIGHBOURS = 19
# Of address space, as `ulimit -v` sets it: a worker needs 2 GB of it at rest.
LIMIT = 4 * 1024**3


def rooms_of(workroom, count):
    team = workroom.team
    return [
        chats.create_chat(workspace=team.workspace, creator=team.alice, title=f"{n}", member_ids=[team.robin.id])
        for n in range(count)
    ]


@pytest.mark.stack
@pytest.mark.parametrize("how", HOW)
def test_B9_a_poisonous_run_is_tried_three_times_and_its_neighbours_are_not_blamed(workroom, crew, how):
    workroom.team.robin.current_spec.tool_configs.create(position=9, tool="poison")
    workroom.model.script(text="I was only near.", first=4.0)
    call = {"name": "poison", "arguments": f'{{"how": "{how}"}}'}
    workroom.model.script(match="drink", calls=[call], first=2.0)

    first = crew(DJANGO_SETTINGS_MODULE="tests.poison.settings")
    resource.prlimit(first.pid, resource.RLIMIT_AS, (LIMIT, LIMIT))
    for room in rooms_of(workroom, NEIGHBOURS):
        workroom.say("hello", chat=room)
    workroom.say("drink")
    workroom.wait(lambda: Run.objects.filter(state="running").count() == NEIGHBOURS + 1, 15)
    workroom.wait(lambda: first.process.poll() is not None, 15)

    second = crew(DJANGO_SETTINGS_MODULE="tests.poison.settings")
    resource.prlimit(second.pid, resource.RLIMIT_AS, (LIMIT, LIMIT))
    [later] = rooms_of(workroom, 1)
    workroom.say("hello", chat=later)
    workroom.wait(lambda: Run.objects.filter(state__in=["completed", "failed"]).count() == NEIGHBOURS + 2, 90)

    poisonous = Run.objects.get(chat=workroom.team.chat)
    assert (poisonous.state, poisonous.error_code) == ("failed", "crash_loop")
    assert (poisonous.attempt, poisonous.crashes) == (3, 3)
    assert [row.type for row in workroom.log()] == ["TEXT_MESSAGE", "TOOL_CALL", "TOOL_RESPONSE", "RUN_FAILED"]
    others = Run.objects.exclude(pk=poisonous.pk)
    assert set(others.values_list("state", flat=True)) == {"completed"}
    assert max(others.values_list("crashes", flat=True)) <= 2
    assert others.get(chat=later).attempt == 1
    # What is poisonous has been kept from the worker: it lives.
    assert second.process.poll() is None


def suspects(*crashes):
    return [Run(crashes=count) for count in crashes]


def test_B9_runs_of_a_first_death_are_spread_over_the_places_and_those_of_a_second_go_alone():
    first, again = suspects(1, 1, 1, 1, 1), suspects(2, 2)
    groups = spread([*first, *again], 4)
    assert [len(group) for group in groups] == [1, 1, 3, 2]
    assert groups[:2] == [[again[0].pk], [again[1].pk]]
    assert {id for group in groups[2:] for id in group} == {run.pk for run in first}


def test_B9_few_runs_go_alone_at_once():
    runs = suspects(1, 1, 1)
    assert spread(runs, 4) == [[run.pk] for run in runs]


def test_B9_who_died_twice_waits_rather_than_share_a_process():
    first, again = suspects(1), suspects(2, 2)
    assert spread([*again, *first], 1) == [[first[0].pk]]
    assert spread(again, 1) == [[again[0].pk]]
    assert spread(suspects(), 4) == []
