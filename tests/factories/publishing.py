"""Factories of listings, uses and reports of public agents."""

from factory.declarations import LazyAttribute, LazyFunction
from factory.django import DjangoModelFactory

from common.clock import now
from events.rows import ListingCategory, ReportReason
from publishing.models import AgentReport, AgentUse, Listing


class ListingFactory(DjangoModelFactory[Listing]):
    """The listing of `agent`, a public agent that exists."""

    class Meta:
        model = Listing

    category = ListingCategory.OTHER
    origin_version = 1
    search_text = LazyAttribute(lambda listing: listing.agent.name.casefold())


class AgentReportFactory(DjangoModelFactory[AgentReport]):
    """An open report about `agent`."""

    class Meta:
        model = AgentReport

    reason = ReportReason.MISLEADING
    text = "It says that it translates, and it does not."


class AgentUseFactory(DjangoModelFactory[AgentUse]):
    """The use of `agent`, which few workspaces have used."""

    class Meta:
        model = AgentUse

    run_count = 12
    counted_at = LazyFunction(now)
