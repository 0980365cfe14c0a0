"""The first page of the admin: is everything well, what went wrong today, who did what. A few cheap questions."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import redis
from django.db.models import Count, Q, Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from actors.models import Actor, AgentStatus, Kind
from agents.models import LLMCall, Run, RunState
from agents.models.runs import ACTIVE
from chats.models import Chat
from common.clock import now
from common.ids import id_at
from config.serving.health import QUESTION, connect
from events.admin_objects import object_of
from events.models import AuditRecord
from workspaces.models import Workspace

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Figure:
    """A number with what it counts and the list behind it; `tone` is `bad` when somebody should look."""

    label: str
    value: str
    address: str = ""
    tone: str = ""


def figures(request: HttpRequest) -> dict[str, Any]:
    """What the page shows, of what this operator may see."""
    seen = request.user.has_perm
    return {
        "process": _processes(),
        "runs": _runs() if seen("agents.view_run") else [],
        "failed": _failed() if seen("agents.view_run") else [],
        "house": _house() if seen("actors.view_actor") else [],
        "models": _models() if seen("agents.view_llmcall") else [],
        "audit": _audit() if seen("events.view_auditrecord") else [],
    }


def _list(table: str, **narrowed: Any) -> str:
    return f"{reverse(f'admin:{table}_changelist')}?{urlencode(narrowed)}"


def _processes() -> list[Figure]:
    """Workers that listen, and what waits in the queues. Redis may be down: then that is the news."""
    try:
        server = connect()
        with server.pipeline(transaction=False) as asked:
            asked.pubsub_numsub(QUESTION)
            asked.llen("runs")
            asked.llen("work")
            listening, runs, work = asked.execute()
    except redis.RedisError:
        return [Figure("Redis", _("does not answer"), tone="bad")]
    workers = int(listening[0][1]) if listening else 0
    return [
        Figure(_("Workers"), str(workers), tone="" if workers else "bad"),
        Figure(_("Hints waiting for a worker"), str(runs)),
        Figure(_("Other jobs waiting"), str(work)),
    ]


def _runs() -> list[Figure]:
    """Runs at work, by state."""
    counted = dict(
        Run.objects.filter(state__in=ACTIVE).order_by().values_list("state").annotate(Count("pk"))
    )  # fmt: skip
    return [
        Figure(_(RunState(state).label), str(counted.get(state, 0)), _list("agents_run", state__exact=state))
        for state in ACTIVE
    ]


def _failed() -> list[Figure]:
    """Runs of the last day that failed, by code, the most first."""
    rows = Run.objects.filter(pk__gte=id_at(now() - DAY), state=RunState.FAILED).order_by()
    counted = rows.values_list("error_code").annotate(n=Count("pk")).order_by("-n")[:8]
    return [
        Figure(code or _("no code"), str(count), _list("agents_run", state__exact="failed", when="day", q=code), "bad")
        for code, count in counted
    ]


def _house() -> list[Figure]:
    """How many there are of what, in one query."""
    people, agents = Q(kind=Kind.HUMAN), Q(kind=Kind.AGENT) & ~Q(status=AgentStatus.DELETED)
    counted = Actor.objects.aggregate(
        people=Count("pk", filter=people & Q(is_active=True)), closed=Count("pk", filter=people & Q(is_active=False)),
        agents=Count("pk", filter=agents), suspended=Count("pk", filter=agents & Q(status=AgentStatus.SUSPENDED)),
    )  # fmt: skip
    return [
        Figure(_("Workspaces"), str(Workspace.objects.count()), _list("workspaces_workspace")),
        Figure(_("People"), str(counted["people"]), _list("actors_actor", kind__exact="human", is_active__exact=1)),
        Figure(_("Closed accounts"), str(counted["closed"]), _list("actors_actor", kind__exact="human", is_active__exact=0)),
        Figure(_("Agents"), str(counted["agents"]), _list("actors_actor", kind__exact="agent")),
        Figure(_("Suspended agents"), str(counted["suspended"]),
               _list("actors_actor", kind__exact="agent", status__exact="suspended")),
        Figure(_("Chats"), str(Chat.objects.count()), _list("chats_chat")),
    ]  # fmt: skip


def _models() -> list[dict[str, Any]]:
    """What was asked of models in the last day, the most first."""
    calls = LLMCall.objects.filter(pk__gte=id_at(now() - DAY)).order_by()
    summed = calls.values("provider", "model").annotate(
        calls=Count("pk"), failed=Count("pk", filter=~Q(error_code="")), tokens_in=Sum("input_tokens"),
        tokens_out=Sum("output_tokens"), cost=Sum("cost_micro"),
    )  # fmt: skip
    return [
        row
        | {
            "cost": f"${(row['cost'] or 0) / 1_000_000:.2f}",
            "address": _list("agents_llmcall", when="day", q=row["model"]),
        }
        for row in summed.order_by("-calls")[:8]
    ]


def _audit() -> list[dict[str, Any]]:
    """The newest deeds; who merely looked at something is left to the list."""
    rows = AuditRecord.objects.exclude(deed="admin.opened").select_related("actor").order_by("-pk")[:12]
    return [{"record": row, "object": object_of(row)} for row in rows]
