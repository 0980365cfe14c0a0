"""Runs: reading one, stopping it, repeating it; and which agents a message would wake."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from agents.selectors import get_version
from chats.permissions import ChatVerb, get_chat_for
from common.paging import PAGED, answer_page, page_of, rows_of
from common.rest import Page, Request, answer, answer_list, query_parameters, read, read_query
from events.rows import ReplyRow, RunRow
from runs.api.bodies import RunDetailRow, RunsQuery, StepRow, WakesBody, WakesRow
from runs.models import ACTIVE, Run, Step
from runs.permissions import get_run_for
from runs.selectors import build_reply_rows, list_replies_of_version
from runs.services import runs, wake


def _step_row(step: Step) -> StepRow:
    return StepRow(
        number=step.number, index=step.index, kind=step.kind, state=step.state, name=step.name,
        started_at=step.started_at, ended_at=step.ended_at, result=step.result,
    )  # fmt: skip


class Runs(APIView):
    @extend_schema(operation_id="list_runs", parameters=query_parameters(RunsQuery), responses=Page[RunRow])
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        query = read_query(request, RunsQuery)
        chat = get_chat_for(request.user, chat_id, ChatVerb.SEE)
        rows = Run.objects.filter(chat=chat)
        if query.state == "active":
            rows = rows.filter(state__in=ACTIVE)
        found, more = page_of(rows, query, by="-created_at")
        return answer_list(rows_of(found), more)


class OneRun(APIView):
    @extend_schema(operation_id="read_run", responses=RunDetailRow)
    def get(self, request: Request, run_id: UUID) -> HttpResponse:
        run = get_run_for(request.user, run_id, ChatVerb.SEE)
        steps = run.steps.order_by("number", "kind", "index")
        return answer(RunDetailRow(run=run.to_row(), steps=[_step_row(step) for step in steps]))


class Stop(APIView):
    @extend_schema(operation_id="stop_run", request=None, responses=RunRow)
    def post(self, request: Request, run_id: UUID) -> HttpResponse:
        return answer(runs.stop_run(actor=request.user, run_id=run_id).to_row())


class Retry(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="retry_run", request=None, responses={201: RunRow})
    def post(self, request: Request, run_id: UUID) -> HttpResponse:
        return answer(runs.retry_run(actor=request.user, run_id=run_id).to_row(), 201)


class Wakes(APIView):
    @extend_schema(operation_id="preview_wakes", request=WakesBody, responses=Page[WakesRow])
    def post(self, request: Request, chat_id: UUID) -> HttpResponse:
        body = read(request, WakesBody)
        chat = get_chat_for(request.user, chat_id, ChatVerb.POST)
        woken = wake.preview_wakes(chat=chat, author=request.user, text=body.text, reply_to=body.reply_to)
        return answer_list(WakesRow(agent_id=one.agent_id, effect=one.effect, reason=one.reason) for one in woken)


class Replies(APIView):
    @extend_schema(operation_id="list_version_replies", parameters=PAGED, responses=Page[ReplyRow])
    def get(self, request: Request, agent_id: UUID, number: int) -> HttpResponse:
        spec = get_version(request.user, agent_id, number)
        return answer_page(
            request, list_replies_of_version(spec, request.user), by="-created_at", shown=build_reply_rows
        )
