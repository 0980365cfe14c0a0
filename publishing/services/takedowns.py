"""Take a public agent down."""

from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext

from actors.models import Actor
from agents.permissions import AgentVerb, get_agent_for
from chats import services as chats
from chats.models import ChatActor
from common.clock import now
from common.errors import Invalid
from common.operators import get_for_operator
from events import audit
from events.control import send_stop
from events.publish import publish_workspace_list_changed
from events.rows import ReportState
from publishing.models import AgentReport, Listing
from publishing.permissions import build_not_public_error
from publishing.services.publications import lock_public_agent
from publishing.services.updates import start_update
from runs.models import RunState
from runs.services.runs import list_runs_of_agent


@transaction.atomic
def take_down_agent(actor: Actor, agent_id: UUID, *, reason: str = "", as_operator: bool = False) -> Listing:
    """Take a public agent down: it starts nothing more, and its runs end with `agent_taken_down`. Return its listing, which stays.

    Its chats keep their history; a task posts a system message with the reason there, and notifies people
    (`publishing/services/updates.py`). Its name and its handle are free again, and its original can be published anew. The actor is
    an editor of the publisher or, `as_operator`, an operator, who has to give a reason. Raises `NotFound`, `Forbidden`, `Invalid`,
    `Conflict` (`not_public`).
    """
    listing = Listing.objects.select_related("agent").filter(agent=agent_id).first()
    if as_operator:
        # The id of an agent is that of no listing: without a listing this raises `NotFound`, after the check of the actor.
        listing = get_for_operator(actor, Listing, listing.pk if listing else agent_id)
    else:
        get_agent_for(actor, agent_id, AgentVerb.TAKE_DOWN)
    if listing is None:
        raise build_not_public_error(gettext("This agent"))
    reason = " ".join(reason.split())[:600]
    if as_operator and not reason:
        raise Invalid(gettext("Its users and its publisher read the reason: give one."))

    # Locked, so that it is not added to a chat meanwhile. The chats themselves may be too many to lock.
    chats.lock_chat_sets([listing.agent_id])
    agent = lock_public_agent(agent_id)
    if not as_operator:
        get_agent_for(actor, agent_id, AgentVerb.TAKE_DOWN)
    agent.taken_down_at = now()
    Actor.objects.filter(pk=agent.pk).update(taken_down_at=agent.taken_down_at, revision=F("revision") + 1)
    Listing.objects.filter(pk=listing.pk).update(
        taken_down_by=actor, taken_down_by_operator=as_operator, takedown_reason=reason
    )
    listing.refresh_from_db()
    listing.agent = agent
    for run_id in list_runs_of_agent(agent.id).filter(state=RunState.RUNNING).values_list("pk", flat=True):
        send_stop(run_id)
    start_update(agent)
    if as_operator:
        open_reports = AgentReport.objects.filter(agent=agent, state=ReportState.OPEN)
        open_reports.update(state=ReportState.CLOSED, closed_by=actor, closed_at=now())
    audit.record(
        actor,
        "agent.taken_down",
        workspace_id=agent.published_by_workspace_id,
        object_id=agent.id,
        reason=reason,
        chats=ChatActor.objects.filter(actor=agent, ended_at=None).count(),
        as_operator=as_operator,
    )
    if agent.published_by_workspace_id:
        publish_workspace_list_changed(agent.published_by_workspace_id, "agents")
    return listing
