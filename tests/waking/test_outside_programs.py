"""Agents for which an outside program answers: every way to wake them makes a wake of the program, and no run."""

from datetime import timedelta

import pytest

from actors.models import Actor
from agents.prepared_queries import OWN_SUB_AGENTS
from chats import services as chats
from chats.models import ChatActor
from common.clock import now
from common.errors import Conflict
from events.payloads import BudgetPeriod, BudgetScope
from events.rows import ParticipantRow
from realtime.catchup import catch_up
from runs.models import Run
from runs.services import claims
from runs.services.runs import retry_run
from schedules import services as schedules
from schedules.models import Schedule
from tests.factories.agents import add_tool_use
from tests.factories.schedules import ScheduleFactory
from tests.factories.usage import ModelPriceFactory
from tests.recorder import prepare_run
from tests.waking.test_send_message import script_call
from usage import services as usage
from waking.services.limits import MAX_WAKES_OF_PAIR
from waking.services.wake import preview_wakes
from webhooks import services as webhooks
from webhooks.models import AgentWake
from webhooks.selectors import list_unread_wakes

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bot(environment):
    """An agent Bot in the chat, for which a program answers, and which answers mentions only."""
    bot = environment.add_agent("Bot", handle="bot")
    ChatActor.objects.filter(chat=environment.team.chat).update(response="mentions")
    return webhooks.set_access(environment.team.alice, bot.id, runs_outside=True)


def read_wakes(bot):
    return [(wake.message_id, wake.why) for wake in list_unread_wakes(bot).order_by("pk")]


def test_a_schedule_wakes_the_program_once(environment, bot):
    team = environment.team
    schedule = ScheduleFactory.create(
        chat=team.chat, agent=bot, owner=team.alice, next_at=now() - timedelta(minutes=1), instructions="Count."
    )
    assert (schedules.fire_due_schedules(), schedules.fire_due_schedules()) == (1, 0)
    [line] = environment.log("AGENT_WOKEN")
    assert (read_wakes(bot), line.payload["text"]) == ([(line.pk, "schedule")], "Count.")
    schedules.run_schedule_now(team.alice, schedule.pk)
    assert [why for _, why in read_wakes(bot)] == ["schedule", "schedule"]
    assert environment.runs() == []


def test_a_used_up_budget_pauses_no_schedule_of_a_program(environment, bot):
    team = environment.team
    ModelPriceFactory.create(workspace=team.workspace)
    usage.create_budget(
        team.alice,
        team.workspace.id,
        scope=BudgetScope.PERSON,
        period=BudgetPeriod.DAY,
        limit_micro=0,
        subject_id=team.alice.id,
    )
    ScheduleFactory.create(chat=team.chat, agent=bot, owner=team.alice, next_at=now() - timedelta(minutes=1))
    schedules.fire_due_schedules()
    assert (Schedule.objects.get().paused_reason, len(read_wakes(bot))) == ("", 1)


@pytest.mark.usefixtures("engine")
def test_a_message_that_an_agent_sends_wakes_the_program(environment, bot):
    add_tool_use(environment.team.robin.current_spec, "send_message")
    script_call(environment, to="@bot", text="Please count the fares.")
    environment.post("@robin tell Bot")
    [approval] = environment.wait_until_waiting()
    environment.decide(approval)
    environment.wait(AgentWake.objects.exists)
    wake = AgentWake.objects.get()
    assert (wake.agent, wake.chat.is_between_agents, wake.why) == (bot, True, "always")
    assert {run.agent for run in environment.runs()} == {environment.team.robin}
    # The answer of the program wakes the agent, as that of another agent would.
    reply = chats.post_message(bot, wake.chat_id, text="There are seven fares.")[0]
    assert Run.objects.filter(agent=environment.team.robin, chat=wake.chat_id, trigger_id=reply.id).exists()


def test_RUN18_two_programs_in_the_chat_of_their_agents_wake_each_other_only_so_often(environment, bot):
    team = environment.team
    other = webhooks.set_access(team.alice, environment.add_agent("Echo", handle="echo").id, runs_outside=True)
    chat, _ = chats.open_direct_chat(team.alice, team.workspace.id, other.id, agent_id=bot.id)
    for number in range(MAX_WAKES_OF_PAIR + 5):
        chats.post_message((bot, other)[number % 2], chat.id, text=f"number {number}?")
    assert AgentWake.objects.count() == MAX_WAKES_OF_PAIR
    lines = chat.messages.filter(type="WAKE_LIMIT_REACHED")
    assert [line.payload["limit"] for line in lines] == ["pair_rate"]


def test_RUN18_a_program_and_an_agent_wake_each_other_only_so_often(environment, bot):
    team = environment.team
    for number in range(MAX_WAKES_OF_PAIR + 5):
        author, other = ((team.robin, "bot"), (bot, "robin"))[number % 2]
        chats.post_message(author, team.chat.id, text=f"@{other} number {number}?")
        Run.objects.filter(state="queued").update(state="completed")
    assert AgentWake.objects.count() + Run.objects.count() == MAX_WAKES_OF_PAIR
    assert len(environment.log("WAKE_LIMIT_REACHED")) == 1


def test_a_run_that_was_queued_before_the_program_took_over_wakes_the_program_instead(environment, bot):
    team = environment.team
    webhooks.set_access(team.alice, bot.id, runs_outside=False)
    first = environment.post("@bot one")
    environment.post("for nobody of you")
    second = environment.post("@bot two")
    webhooks.set_access(team.alice, bot.id, runs_outside=True)
    [run] = environment.runs()
    assert claims.claim_run(run.pk, "worker") is None
    run.refresh_from_db()
    assert (run.state, run.attempt, run.answered_ids) == ("completed", 0, [])
    assert read_wakes(bot) == [(first.pk, "mention"), (second.pk, "mention")]


def test_what_the_program_left_unread_is_read_by_the_next_run(environment, bot):
    team = environment.team
    environment.post("@bot one")
    webhooks.set_access(team.alice, bot.id, runs_outside=False)
    assert environment.runs() == []
    environment.post("@bot two")
    [run] = environment.runs()
    claimed = claims.claim_run(run.pk, "worker")
    assert claimed is not None
    context = str(prepare_run(claimed).transcript)
    assert all(text in context for text in ("@bot one", "@bot two"))


def test_a_run_of_an_agent_that_a_program_answers_for_is_not_retried(environment, bot):
    message = environment.post("@robin hello")
    Run.objects.update(state="failed", ended_at=now())
    Actor.objects.filter(pk=environment.team.robin.pk).update(runs_outside=True)
    with pytest.raises(Conflict):
        retry_run(environment.team.alice, environment.runs()[0].pk)
    assert [run.trigger_id for run in environment.runs()] == [message.pk]


def test_no_agent_gives_it_tasks(environment, bot):
    workspace_id = environment.team.workspace.id
    Actor.objects.filter(pk=bot.pk).update(accepts_tasks=True)
    assert OWN_SUB_AGENTS.all(workspace_id, ["bot"]) == []
    Actor.objects.filter(pk=bot.pk).update(runs_outside=False)
    assert OWN_SUB_AGENTS.all(workspace_id, ["bot"]) == [bot]


def test_the_preview_says_that_it_wakes(environment, bot):
    [effect] = preview_wakes(environment.team.alice, environment.team.chat.id, text="@bot hello")
    assert (effect.agent_id, effect.effect, effect.reason) == (bot.id, "wakes", None)


def read_cursor(environment, agent, since=None):
    """Return how far an agent has read, as its participant row tells a client that has the changes until `since`."""
    rows = catch_up(environment.team.chat.id, since).rows
    return next(row.last_read_seq for row in rows if isinstance(row, ParticipantRow) and row.actor.id == agent.id)


def test_how_far_a_program_has_read_is_in_the_rows_of_the_chat(environment, bot):
    message = environment.post("@bot hello")
    assert chats.mark_read(bot, environment.team.chat.id, seq=message.seq) == message.seq
    participant = ChatActor.objects.get(actor=bot, chat=environment.team.chat)
    assert participant.version > message.seq  # it was published
    assert read_cursor(environment, bot) == message.seq
    chats.mark_read(bot, environment.team.chat.id, seq=message.seq)
    assert ChatActor.objects.get(pk=participant.pk).version == participant.version
    assert read_cursor(environment, environment.team.alice) is None


@pytest.mark.usefixtures("engine")
def test_how_far_an_agent_has_read_is_in_the_rows_of_the_chat(environment):
    message = environment.post("hello")
    environment.submit_queued_runs()
    environment.wait_until_idle()
    participant = ChatActor.objects.get(actor=environment.team.robin, chat=environment.team.chat)
    assert read_cursor(environment, environment.team.robin) == participant.last_read_seq >= message.seq
    assert participant.version > message.seq
