"""Any interleaving of messages in two chats, messages that agents send into the other chat, steps, crashes, stops, wakes by hand
and schedules: each message is read once by each agent that it addresses, one run of a concurrency key is active, and loops of
agents end.

Workers are played by the test: it claims runs, stores their steps, loses their leases and reclaims them. The log, the cursors, the
claims and the listeners are real.
"""

import random
from collections import Counter
from datetime import timedelta
from uuid import UUID

import pytest
from django.db.models.functions import Now

from actors.models import Actor
from chats import services as chats
from chats.models import ChatActor, Message
from common.clock import now
from common.ids import new_id
from llm.messages import Answer, ToolCall, Usage
from runs.kinds import get_kind
from runs.models import Run
from runs.runtime.claimed_run import ClaimedRun
from runs.runtime.steps import LoopEnded, ModelAnswered, StepId, ToolResult, ToolsFinished, ToolsStarted
from runs.services import claims, leases
from runs.services.runs import stop_run
from schedules import services as schedules
from tests.chaos import N
from tests.factories.agents import change_spec
from tests.factories.schedules import ScheduleFactory
from waking.services.by_hand import wake_agent
from waking.services.limits import MAX_AGENT_HOPS
from webhooks.models import AgentWake

pytestmark = pytest.mark.django_db(transaction=True)

HANDLES = ("robin", "scribe", "quill")


class World:
    """Two chats of two people and three agents, and the runs that the played workers have claimed. Scribe has one memory for both
    chats. An outside program answers for the agent Quill."""

    def __init__(self, environment, chance):
        self.environment, self.team, self.chance = environment, environment.team, chance
        self.agents = [self.team.robin, *(environment.add_agent(name.title(), handle=name) for name in HANDLES[1:])]
        self.claimed: dict[UUID, ClaimedRun] = {}
        self.addressed: Counter[tuple[UUID, UUID]] = Counter()
        # The messages that an agent need not take in, because its run was stopped before.
        self.stopped: set[tuple[UUID, UUID]] = set()
        ids = [self.team.bob.id, *(agent.id for agent in self.agents)]
        other = chats.create_chat(self.team.alice, self.team.workspace.id, title="Other", actor_ids=ids)
        self.chats = [self.team.chat, other]
        ChatActor.objects.filter(chat__in=self.chats).update(response="mentions")
        change_spec(self.agents[1].current_spec, memory="agent")
        self.program = self.agents[2]
        Actor.objects.filter(pk=self.program.pk).update(runs_outside=True)

    def pick_mentions(self):
        return self.chance.sample(HANDLES, self.chance.randrange(3))

    def post(self):
        mentioned = self.pick_mentions()
        text = " ".join([*(f"@{handle}" for handle in mentioned), "please look"])
        message, _ = chats.post_message(
            self.chance.choice([self.team.alice, self.team.bob]), self.chance.choice(self.chats).id, text=text
        )
        for agent in self.agents:
            if agent.handle in mentioned:
                self.addressed[agent.id, message.id] = 1

    def post_by_program(self):
        """Post as the program, which may mention other agents, too."""
        others = [handle for handle in self.pick_mentions() if handle != self.program.handle]
        chats.post_message(
            self.program,
            self.chance.choice(self.chats).id,
            text=" ".join([*(f"@{handle}" for handle in others), "here is what I found"]),
        )

    def claim(self):
        queued = list(Run.objects.filter(state="queued").order_by("pk"))
        if queued:
            run = claims.claim_run(self.chance.choice(queued).pk, f"worker-{self.chance.randrange(3)}")
            if run is not None:
                assert run.row.pk not in self.claimed
                self.claimed[run.row.pk] = run

    def answer(self):
        """Store the answer of a claimed run, with calls or as its last one; its text may mention other agents."""
        if not self.claimed:
            return
        claimed = self.chance.choice(list(self.claimed.values()))
        run, kind = claimed.row, get_kind(claimed.row)
        prepared = kind.prepare(claimed)
        step = StepId(run.steps_done + 1, run.message_id)
        others = [handle for handle in self.pick_mentions() if handle != run.agent.handle]
        text = " ".join([*(f"@{handle}" for handle in others), "here is my answer to you"])
        calls: tuple[ToolCall, ...] = ()
        if self.chance.random() < 0.4 and run.steps_done < 3:
            calls = (ToolCall(f"call_{new_id()}", "current_time", '{"timezone": "UTC"}'),)
        answer = Answer(text, "", calls, Usage(1, 1), "tool_calls" if calls else "stop", "scripted")
        kind.record_answer(claimed, prepared.model, ModelAnswered(step, answer))
        if calls:
            run.refresh_from_db()
            kind.record_tool_start(claimed, ToolsStarted(calls))
            kind.record_tool_results(claimed, ToolsFinished((ToolResult(calls[0], "ok", "noon"),)))
            run.refresh_from_db()
        else:
            del self.claimed[run.pk]

    def send(self):
        """Send a message into the other chat, as an agent does by its tool during a run."""
        if self.claimed:
            run = self.chance.choice(list(self.claimed.values())).row
            [other] = [chat for chat in self.chats if chat.pk != run.chat_id]
            mentioned = [f"@{handle}" for handle in self.pick_mentions() if handle != run.agent.handle]
            chats.post_message(run.agent, other.pk, text=" ".join([*mentioned, "for you"]), sent_by_run_id=run.pk)

    def stop(self):
        """Stop a run and those that it started. Its worker ends it, if one executes it."""
        active = list(Run.objects.filter(state__in=["queued", "running"]).order_by("pk"))
        if not active:
            return
        stop_run(self.team.alice, self.chance.choice(active).pk)
        ended = Run.objects.filter(pk__in=[run.pk for run in active], state="stopped")
        asked = Run.objects.filter(pk__in=list(self.claimed), stop_requested_at__isnull=False)
        for run in [*ended, *asked]:
            written = Message.objects.filter(chat=run.chat_id, type="TEXT_MESSAGE")
            self.stopped |= {(run.agent_id, id) for id in written.values_list("pk", flat=True)}
        for run in asked:
            claimed = self.claimed.pop(run.pk)
            kind = get_kind(claimed.row)
            kind.record_loop_end(claimed, kind.prepare(claimed).model, LoopEnded("stopped"))

    def crash(self):
        """Lose the lease of a run: another worker reclaims it."""
        if self.claimed:
            id = self.chance.choice(list(self.claimed))
            stale = Run.objects.get(pk=id)
            if stale.crashes < 2:
                del self.claimed[id]
                Run.objects.filter(pk=id).update(lease_until=Now())
                leases.reclaim_run(stale, leases.LeaseOwnerState.DEAD)
                Run.objects.filter(pk=id).update(crashes=0)

    def wake_by_hand(self):
        wake_agent(self.team.alice, self.chance.choice(self.chats).id, self.chance.choice(self.agents).id)

    def fire(self):
        schedule = ScheduleFactory.create(
            chat=self.chance.choice(self.chats),
            agent=self.chance.choice(self.agents),
            owner=self.team.alice,
            next_at=now() - timedelta(seconds=1),
        )
        assert schedules.fire_due_schedules() == 1
        schedule.delete()

    def count_mentions_of_agents(self):
        """Add the messages of agents that woke an agent: those are addressed, too, unless a limit ended the loop."""
        for message in Message.objects.filter(type="TEXT_MESSAGE", author__in=self.agents):
            for id in message.payload["mentions"]:
                self.addressed[UUID(id), message.id] = 1


@pytest.mark.parametrize("seed", range(5 * N))
def test_RUN25_RUN18_each_message_is_read_once_and_loops_end(environment, seed):
    world = World(environment, random.Random(seed))
    steps = [
        world.post,
        world.claim,
        world.claim,
        world.answer,
        world.answer,
        world.crash,
        world.send,
        world.stop,
        world.post_by_program,
        world.wake_by_hand,
        world.fire,
    ]
    for _ in range(60):
        world.chance.choice(steps)()
        active = Run.objects.filter(state="running").values_list("concurrency_key", flat=True)
        assert len(active) == len(set(active))
    for _ in range(400):
        world.claim()
        world.answer()
        if not Run.objects.filter(state__in=["queued", "running"]).exists():
            break
    assert not Run.objects.filter(state__in=["queued", "running"]).exists()  # loops end
    world.count_mentions_of_agents()
    taken: Counter[tuple[UUID, UUID]] = Counter()
    for run in Run.objects.all():
        assert run.agent_hops <= MAX_AGENT_HOPS
        if run.attempt:  # a run that was stopped before it began has read nothing, and the next one answers its message
            taken.update((run.agent_id, id) for id in run.answered_ids)
        assert run.agent != world.program
    taken.update(AgentWake.objects.exclude(why__in=["hand", "schedule"]).values_list("agent_id", "message_id"))
    assert set(taken.values()) <= {1}
    assert set(taken) <= set(world.addressed)
    refused = set(world.addressed) - set(taken) - world.stopped
    limited = set(Message.objects.filter(type="WAKE_LIMIT_REACHED").values_list("chat", flat=True))
    for message in Message.objects.filter(pk__in=[id for _, id in refused]).select_related("author"):
        assert message.author is not None
        assert message.author.is_agent  # the limits refuse no message of a person
        assert message.chat_id in limited
