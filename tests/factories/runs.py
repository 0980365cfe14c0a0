"""Factories of runs and their steps."""

from factory.declarations import LazyAttribute, LazyFunction, SelfAttribute, Sequence, Trait
from factory.django import DjangoModelFactory

from common.clock import now
from runs.models import KindName, Run, RunOrigin, RunState, Step


class RunFactory(DjangoModelFactory[Run]):
    """A queued run of `agent` in `chat`; its concurrency key is its own. With a `parent`, it is a sub-agent's.

    `running` and `ended` set the columns that go with these states.
    """

    class Meta:
        model = Run

    class Params:
        running = Trait(state=RunState.RUNNING, attempt=1, lease_until=LazyFunction(now))
        ended = Trait(state=RunState.COMPLETED, ended_at=LazyFunction(now))

    parent = None
    kind = LazyAttribute(lambda run: KindName.CHAT if run.parent is None else KindName.SUB_AGENT)
    workspace = SelfAttribute("chat.workspace")
    payer = SelfAttribute("workspace")
    concurrency_key = Sequence(lambda n: f"test:{n}")


class JobFactory(RunFactory):
    """A run without a chat: a summary or a merge of suggestions. It needs `workspace` and `agent`."""

    kind = LazyAttribute(lambda run: "summary")
    origin = RunOrigin.JOB
    input = LazyAttribute(lambda run: {})


class StepFactory(DjangoModelFactory[Step]):
    """A tool call of a run that has begun."""

    class Meta:
        model = Step

    number = 1
    kind = "tool"
    state = "started"
    attempt = 1
    name = "current_time"
