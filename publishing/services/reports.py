"""Report public agents to the operators."""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils.translation import gettext

from actors.models import Actor
from agents.permissions import AgentVerb, compute_agent_verbs, get_agent_for
from common.clock import now
from common.database import get_violated_constraint
from common.errors import Code, Conflict, Forbidden, Invalid
from common.operators import get_for_operator
from events import audit
from events.rows import ReportReason, ReportState
from publishing.models import AgentReport


@transaction.atomic
def report_agent(actor: Actor, agent_id: UUID, *, reason: ReportReason, text: str = "") -> AgentReport:
    """Report a public agent to the operators, with the name of the actor.

    Raises `NotFound`, `Invalid`, `Forbidden` (`own_agent`) for an editor of its publisher, and `Conflict` (`already_reported`)
    while the actor has an open report about it.
    """
    agent = get_agent_for(actor, agent_id, AgentVerb.SEE)
    if not agent.is_public:
        raise Invalid("Only public agents are reported.")
    if AgentVerb.TAKE_DOWN in compute_agent_verbs(agent):
        raise Forbidden(
            "Your workspace has published this agent.", code=Code.OWN_AGENT, hints=["Take it down instead."]
        )
    try:
        with transaction.atomic():
            report = AgentReport.objects.create(agent=agent, reporter=actor, reason=reason, text=text.strip()[:2000])
    except IntegrityError as error:
        if get_violated_constraint(error) != "one_open_report_per_person_and_agent":
            raise
        raise Conflict(
            "You have reported this agent already.",
            code=Code.ALREADY_REPORTED,
            hints=["An operator will read your report."],
        ) from error
    audit.record(actor, "agent.reported", object_id=agent.id, reason=report.reason)
    return report


@transaction.atomic
def close_report(operator: Actor, report_id: UUID) -> AgentReport:
    """Close a report, as an operator. Raises `Forbidden`, `NotFound`, `Conflict` if it is closed already."""
    report = get_for_operator(operator, AgentReport, report_id)
    open_report = AgentReport.objects.filter(pk=report.pk, state=ReportState.OPEN)
    if not open_report.update(state=ReportState.CLOSED, closed_by=operator, closed_at=now()):
        raise Conflict(gettext("This report is closed already."))
    audit.record(operator, "report.closed", object_id=report.agent_id, report=str(report.id))
    report.refresh_from_db()
    return report
