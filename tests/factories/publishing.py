"""Factories of listings and reports of public agents."""

from factory.declarations import LazyAttribute
from factory.django import DjangoModelFactory

from events.rows import ListingCategory, ReportReason
from publishing.models import AgentReport, Listing


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
