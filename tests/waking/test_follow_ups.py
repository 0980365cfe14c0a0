"""Messages that arrive while an agent works: read at its next step, or answered by a run after it, which quotes its message."""

import pytest

from agents.specs.content import ToolUse
from chats import services as chats
from chats.models import ChatActor
from events.rows import Role
from runs.models import Run
from tests.factories.agents import change_spec
from tests.people import make_person
from waking.services.wake import preview_wakes
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db(transaction=True)


def list_effects(environment, text="and?"):
    return [
        (one.effect, one.reason) for one in preview_wakes(environment.team.alice, environment.team.chat.id, text=text)
    ]


def set_tools(environment, *tools):
    """Give the agent exactly these tools."""
    change_spec(environment.team.robin.current_spec, tools=[ToolUse(tool=tool) for tool in tools])


def wait_for_request(environment, number=1):
    environment.wait(lambda: len(environment.model.requests) >= number)


@pytest.mark.usefixtures("engine")
def test_RUN25_a_message_during_a_plain_answer_is_answered_afterwards_by_a_run_that_quotes_it(environment):
    set_tools(environment)
    environment.model.script(mode="drip", count=20, every=0.1, times=1)
    first = environment.post("first question")
    wait_for_request(environment)
    environment.wait(lambda: Run.objects.filter(state="running").exists())
    assert list_effects(environment) == [("after_answer", None)]
    second = environment.post("second question")
    third = environment.post("third question")
    environment.wait(lambda: len(environment.list_answers()) == 1)
    environment.submit_queued_runs()
    before, after = environment.wait_until_idle()
    assert before.answered_ids == [first.id]
    assert after.answered_ids == [second.id, third.id]
    answers = [message for message in environment.log("TEXT_MESSAGE") if message.author == environment.team.robin]
    assert [answer.reply_to_id for answer in answers] == [None, second.id]
    assert answers[0].payload.get("answered_ids") is None
    assert answers[1].payload["answered_ids"] == [str(second.id), str(third.id)]


@pytest.mark.usefixtures("engine")
def test_RUN25_a_message_during_a_step_with_calls_is_read_at_the_next_step_by_the_same_run(environment):
    set_tools(environment, "current_time")
    calls = [{"name": "current_time", "arguments": '{"timezone": "Asia/Taipei"}'}]
    environment.model.script(mode="drip", count=20, every=0.05, calls=calls, then={"text": "Both."}, times=1)
    first = environment.post("first question")
    wait_for_request(environment)
    environment.wait(lambda: Run.objects.filter(state="running").exists())
    assert list_effects(environment) == [("next_step_or_after", None)]
    second = environment.post("second question")
    runs = environment.wait_until_idle()
    done = [run for run in runs if run.started_at]
    assert [run.answered_ids for run in done] == [[first.id, second.id]]
    assert [run.answered_ids for run in runs if not run.started_at] == [[]]
    assert "second question" in str(environment.model.requests[-1])
    answer = environment.log("TEXT_MESSAGE")[-1]
    assert (answer.reply_to_id, answer.payload["answered_ids"]) == (first.id, [str(first.id), str(second.id)])


def test_a_message_joins_a_run_that_has_not_begun(environment):
    environment.post("first question")
    assert list_effects(environment) == [("joins", None)]


@pytest.mark.usefixtures("engine")
def test_a_message_is_read_at_the_next_step_while_a_call_is_made(environment):
    environment.post("hello")
    [run] = environment.wait_until_idle()
    run.steps.create(number=2, kind="tool", state="started", attempt=1, call_id="call_x", name="current_time")
    Run.objects.filter(pk=run.pk).update(state="running", lease_until=run.created_at, lease_owner="x")
    assert list_effects(environment) == [("next_step", None)]
    Run.objects.filter(pk=run.pk).update(state="waiting_child", lease_until=None, lease_owner="")
    assert list_effects(environment) == [("next_step", None)]


@pytest.mark.usefixtures("engine")
def test_in_a_room_of_five_people_and_three_agents_each_agent_answers_once_to_all_since_its_cursor(environment):
    team = environment.team
    people = [team.alice, team.bob, *(make_person(name) for name in ("Dora", "Emil", "Fay"))]
    for person in people[2:]:
        workspaces.join_workspace(person, team.workspace.id, role=Role.EDITOR, invited_by=team.alice)
        chats.add_participant(team.alice, team.chat.id, person.id)
    agents = [
        team.robin,
        environment.add_agent("Scribe", handle="scribe"),
        environment.add_agent("Quill", handle="quill"),
    ]
    environment.model.script(text="This is my answer to all of you.")
    engine, environment.engine = environment.engine, None
    asked = [environment.post(f"{person.name}: @robin @scribe @quill what now?", by=person) for person in people]
    chatter = environment.post("nobody is meant", by=team.bob)
    environment.engine = engine
    environment.submit_queued_runs()
    runs = environment.wait_until_idle()
    ids = [message.id for message in asked]
    assert {run.agent_id: run.answered_ids for run in runs} == {agent.id: ids for agent in agents}
    assert chatter.id not in ids
    for agent in agents:
        [answer] = [message for message in environment.log("TEXT_MESSAGE") if message.author == agent]
        assert (answer.reply_to_id, answer.payload["answered_ids"]) == (ids[0], [str(id) for id in ids])
        cursor = ChatActor.objects.get(chat=team.chat, actor=agent).last_read_seq
        assert cursor >= chatter.seq
