"""The first page of the admin: processes, runs, failures, totals and the newest audit records, by a few cheap queries."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Q, Sum
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from redis import Redis

from actors.models import Actor, AgentStatus, Kind
from admin_kit.audit_objects import link_audited_object
from chats.models import Chat
from common.clock import now
from common.ids import get_lowest_id_at
from common.redis_client import redis_client
from events.models import AuditRecord
from events.rows import ReportState
from operators.workspace_usage import list_workspace_usage, may_see_usage
from publishing.models import AgentReport
from runs.models import NOT_ENDED, Run, RunState
from runs.runtime.dispatch import QUEUE
from server.health import PROBE_CHANNEL
from usage.models import LLMCall
from workspaces.models import Workspace

DAY = timedelta(days=1)
MAX_WORKSPACES = 20


@dataclass(frozen=True)
class Figure:
    """A number with its label and a link to the list of its rows. `tone` is `bad` if the number needs attention."""

    label: str
    value: str
    url: str = ""
    tone: str = ""


def get_figures(request: HttpRequest) -> dict[str, Any]:
    """Return the parts of the page that this operator may see."""
    has_perm = request.user.has_perm
    return {
        "process": _count_processes(),
        "runs": _count_active_runs() if has_perm("runs.view_run") else [],
        "failed": _count_failed_runs() if has_perm("runs.view_run") else [],
        "totals": [
            *(_count_totals() if has_perm("actors.view_actor") else []),
            *(_count_open_reports() if has_perm("publishing.view_agentreport") else []),
        ],
        "models": _sum_up_model_calls() if has_perm("usage.view_llmcall") else [],
        "workspaces": list_workspace_usage(MAX_WORKSPACES) if may_see_usage(request) else [],
        "audit": _list_audit_records() if has_perm("events.view_auditrecord") else [],
    }


def _build_changelist_url(table: str, **filters: object) -> str:
    return f"{reverse(f'admin:{table}_changelist')}?{urlencode(filters)}"


def _count_processes() -> list[Figure]:
    """Count the workers that listen for health probes, and the tasks in the queues. Return one figure if Redis does not answer."""
    counted = redis_client.call(_count_in_redis, None)
    if counted is None:
        return [Figure("Redis", _("does not answer"), tone="bad")]
    workers, runs, work = counted
    return [
        Figure(_("Workers"), str(workers), tone="" if workers else "bad"),
        Figure(_("Waiting runs"), str(runs)),
        Figure(_("Other waiting tasks"), str(work)),
    ]


def _count_in_redis(client: Redis) -> tuple[int, int, int]:
    with client.pipeline(transaction=False) as pipeline:
        pipeline.pubsub_numsub(PROBE_CHANNEL)
        pipeline.llen(QUEUE)
        pipeline.llen("work")
        listening, runs, work = pipeline.execute()
    return (int(listening[0][1]) if listening else 0), runs, work


def _count_active_runs() -> list[Figure]:
    """Count the active runs by state."""
    counted = dict(Run.objects.filter(state__in=NOT_ENDED).order_by().values_list("state").annotate(Count("pk")))
    return [
        Figure(
            str(RunState(state).label),
            str(counted.get(state, 0)),
            _build_changelist_url("runs_run", state__exact=state),
        )
        for state in NOT_ENDED
    ]


def _count_failed_runs() -> list[Figure]:
    """Count the failed runs of the last day for each of the eight most frequent error codes."""
    rows = Run.objects.filter(pk__gte=get_lowest_id_at(now() - DAY), state=RunState.FAILED).order_by()
    counted = rows.values_list("error_code").annotate(n=Count("pk")).order_by("-n")[:8]
    return [
        Figure(
            code or _("no code"),
            str(count),
            _build_changelist_url("runs_run", state__exact="failed", when="day", q=code),
            "bad",
        )
        for code, count in counted
    ]


def _count_totals() -> list[Figure]:
    """Count people, agents, workspaces and chats."""
    people, agents = Q(kind=Kind.HUMAN), Q(kind=Kind.AGENT)
    counted = Actor.objects.aggregate(
        people=Count("pk", filter=people & Q(is_active=True)),
        closed=Count("pk", filter=people & Q(is_active=False)),
        agents=Count("pk", filter=agents & Q(status=AgentStatus.READY)),
        suspended=Count("pk", filter=agents & Q(status=AgentStatus.SUSPENDED)),
    )
    return [
        Figure(
            _("Workspaces"),
            str(Workspace.objects.filter(deleted_at=None).count()),
            _build_changelist_url("workspaces_workspace", deleted_at__isempty=1),
        ),
        Figure(
            _("People"),
            str(counted["people"]),
            _build_changelist_url("actors_actor", kind__exact="human", is_active__exact=1),
        ),
        Figure(
            _("Closed accounts"),
            str(counted["closed"]),
            _build_changelist_url("actors_actor", kind__exact="human", is_active__exact=0),
        ),
        Figure(
            _("Agents"),
            str(counted["agents"]),
            _build_changelist_url("actors_actor", kind__exact="agent", status__exact="ready"),
        ),
        Figure(
            _("Suspended agents"),
            str(counted["suspended"]),
            _build_changelist_url("actors_actor", kind__exact="agent", status__exact="suspended"),
        ),
        Figure(_("Chats"), str(Chat.objects.count()), _build_changelist_url("chats_chat")),
    ]


def _count_open_reports() -> list[Figure]:
    """Count the reports about public agents that no operator has handled."""
    count = AgentReport.objects.filter(state=ReportState.OPEN).count()
    url = _build_changelist_url("publishing_agentreport", state__exact="open")
    return [Figure(_("Open reports"), str(count), url, tone="bad" if count else "")]


def _sum_up_model_calls() -> list[dict[str, Any]]:
    """Sum up the model calls of the last day for each of the eight models with the most calls."""
    calls = LLMCall.objects.filter(pk__gte=get_lowest_id_at(now() - DAY)).order_by()
    summed = calls.values("provider", "model").annotate(
        calls=Count("pk"),
        failed=Count("pk", filter=~Q(error_code__in=["", "stopped"])),
        tokens_in=Sum("input_tokens"),
        tokens_out=Sum("output_tokens"),
        cost=Sum("cost_micro"),
    )
    return [
        row
        | {
            "cost": f"${(row['cost'] or 0) / 1_000_000:.2f}",
            "url": _build_changelist_url("usage_llmcall", when="day", q=row["model"]),
        }
        for row in summed.order_by("-calls")[:8]
    ]


def _list_audit_records() -> list[dict[str, Any]]:
    """Return the newest audit records, without those of opened rows."""
    rows = AuditRecord.objects.exclude(action="admin.opened").select_related("actor").order_by("-pk")[:12]
    return [{"record": row, "object": link_audited_object(row)} for row in rows]
