"""What each workspace used in the last 30 days, for the first page of the admin and as CSV."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Q, Sum
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from chats.models import Message
from common.clock import now
from common.csv_format import format_csv
from common.ids import get_lowest_id_at
from events import audit
from files.models import File
from usage.models import LLMCall
from workspaces.models import Workspace

DAYS = 30
SUCCESSFUL = ("", "stopped")
"""The error codes of model calls that did not fail."""
CALL_FIGURES = ("calls", "failed", "unpriced", "input_tokens", "output_tokens", "cost_micro")
COLUMNS = (
    "id",
    "handle",
    "name",
    "calls",
    "failed",
    "calls without a known price",
    "input tokens",
    "output tokens",
    "cost in USD",
    "bytes of files",
    "members",
    "last message (UTC)",
)


@dataclass(frozen=True)
class WorkspaceUsage:
    """What a workspace used. `cost_micro` is in millionths of a dollar, without the `unpriced` calls. `bytes`: of its files today.
    `last_message_at` is null if nobody wrote in the period."""

    workspace: Workspace
    calls: int
    failed: int
    unpriced: int
    input_tokens: int
    output_tokens: int
    cost_micro: int
    bytes: int
    members: int
    last_message_at: datetime | None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def cost(self) -> str:
        return f"${self.cost_micro / 1_000_000:,.2f}"

    @property
    def url(self) -> str:
        return reverse("admin:workspaces_workspace_change", args=[self.workspace.pk])


def may_see_usage(request: HttpRequest) -> bool:
    """Return whether this operator may see all tables that are summed up."""
    tables = ("workspaces.view_workspace", "usage.view_llmcall", "files.view_file", "chats.view_message")
    return request.user.has_perms(tables)


def list_workspace_usage(limit: int | None = None) -> list[WorkspaceUsage]:
    """Return what the workspaces used, the most expensive first, and of those that cost nothing the most active. A constant number
    of queries, by indexes of the period, of the workspace and of its files."""
    since = get_lowest_id_at(now() - timedelta(days=DAYS))
    calls = LLMCall.objects.filter(pk__gte=since, workspace__isnull=False).order_by().values("workspace")
    summed: Any = calls.annotate(
        calls=Count("pk"),
        failed=Count("pk", filter=~Q(error_code__in=SUCCESSFUL)),
        unpriced=Count("pk", filter=Q(cost_micro=None)),
        input_tokens=Sum("input_tokens"),
        output_tokens=Sum("output_tokens"),
        cost_micro=Sum("cost_micro"),
    )
    calls_by_id: dict[UUID, dict[str, Any]] = {row["workspace"]: row for row in summed}
    bytes_by_id = _group(File.objects.filter(deleted_at=None), "workspace", Sum("size"))
    last_by_id = _group(Message.objects.filter(pk__gte=since), "chat__workspace", Max("created_at"))
    workspaces = Workspace.objects.filter(deleted_at=None).order_by("name", "pk")
    usage = [
        WorkspaceUsage(
            workspace,
            **{name: calls_by_id.get(workspace.pk, {}).get(name) or 0 for name in CALL_FIGURES},
            bytes=bytes_by_id.get(workspace.pk, 0),
            members=workspace.member_count,
            last_message_at=last_by_id.get(workspace.pk),
        )
        for workspace in workspaces.annotate(member_count=Count("memberships"))
    ]
    usage.sort(key=lambda row: (row.cost_micro, row.calls, row.bytes), reverse=True)
    return usage[:limit]


def _group(rows: Any, by: str, value: Any) -> dict[UUID, Any]:
    return dict(rows.order_by().values_list(by).annotate(value=value))


def download_workspace_usage(request: HttpRequest) -> HttpResponse:
    """Return the usage of all workspaces as CSV, and record the download."""
    rows: list[list[str | int]] = [
        [
            str(row.workspace.pk),
            row.workspace.handle,
            row.workspace.name,
            row.calls,
            row.failed,
            row.unpriced,
            row.input_tokens,
            row.output_tokens,
            f"{row.cost_micro / 1e6:.6f}",
            row.bytes,
            row.members,
            f"{row.last_message_at:%Y-%m-%d %H:%M:%S}" if row.last_message_at else "",
        ]
        for row in list_workspace_usage()
    ]
    operator: Any = request.user
    audit.record(operator, "admin.exported", table="workspaces", rows=len(rows))
    headers = {"Content-Disposition": f'attachment; filename="workspaces-{now():%Y-%m-%d}.csv"'}
    return HttpResponse(format_csv(COLUMNS, rows), content_type="text/csv; charset=utf-8", headers=headers)
