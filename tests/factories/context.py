"""Factories of summaries, their corrections, and strategies of agents."""

from factory.declarations import LazyFunction
from factory.django import DjangoModelFactory

from common.clock import now
from common.ids import new_id
from context.models import AgentContext, HistorySummary, SummaryCorrection


class HistorySummaryFactory(DjangoModelFactory[HistorySummary]):
    """A summary that is ready. Its sentences are from message 1 unless the caller gives others."""

    class Meta:
        model = HistorySummary

    state = "ready"
    from_seq = 1
    through_seq = 1
    messages = 1
    ended_at = LazyFunction(now)


class SummaryCorrectionFactory(DjangoModelFactory[SummaryCorrection]):
    """A correction of a sentence that no summary has."""

    class Meta:
        model = SummaryCorrection

    sentence_id = LazyFunction(new_id)
    old_text = "The deposit is 2,000."
    new_text = "The deposit is 28,000."
    seqs = LazyFunction(lambda: [1])


class AgentContextFactory(DjangoModelFactory[AgentContext]):
    """The strategy of an agent in a chat."""

    class Meta:
        model = AgentContext

    strategy = "summarise"
