"""Views of schedules."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from actors.models import Actor
from common.clock import now
from common.rest import Page, Request, build_empty_response, build_list_response, build_response, read
from events.rows import MessageRow, NextTimesRow, ScheduleRow
from schedules import services as schedules
from schedules.api.bodies import NewScheduleBody, PreviewBody, RunNowBody, ScheduleBody
from schedules.expressions import list_next_times, normalize_expression
from schedules.models import Schedule
from schedules.selectors import build_rows, list_schedules


class Schedules(APIView):
    @extend_schema(operation_id="list_schedules", responses=Page[ScheduleRow])
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """List the schedules of an agent in the reader's chats."""
        return build_list_response(list_schedules(request.user, agent_id))


class NewSchedule(APIView):
    @extend_schema(
        operation_id="create_schedule", request=NewScheduleBody, responses={200: ScheduleRow, 201: ScheduleRow}
    )
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Create a schedule that wakes an agent in a chat."""
        body = read(request, NewScheduleBody)
        schedule, is_new = schedules.create_schedule(request.user, chat_id, agent_id, **body.model_dump())
        return build_response(_build_row(request.user, schedule), 201 if is_new else 200)


class OneSchedule(APIView):
    @extend_schema(operation_id="change_schedule", request=ScheduleBody, responses=ScheduleRow)
    def patch(self, request: Request, schedule_id: UUID) -> HttpResponse:
        """Change a schedule, or switch it on or off."""
        body = read(request, ScheduleBody)
        return build_response(
            _build_row(request.user, schedules.change_schedule(request.user, schedule_id, **body.model_dump()))
        )

    @extend_schema(operation_id="delete_schedule", responses={204: None})
    def delete(self, request: Request, schedule_id: UUID) -> HttpResponse:
        """Delete a schedule."""
        schedules.delete_schedule(request.user, schedule_id)
        return build_empty_response()


class RunNow(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="run_schedule_now", request=RunNowBody, responses={200: MessageRow, 201: MessageRow})
    def post(self, request: Request, schedule_id: UUID) -> HttpResponse:
        """Do what a schedule asks now. Its times stay the same."""
        message, is_new = schedules.run_schedule_now(request.user, schedule_id, id=read(request, RunNowBody).id)
        return build_response(message.to_row(), 201 if is_new else 200)


class Preview(APIView):
    @extend_schema(operation_id="preview_schedule", request=PreviewBody, responses=NextTimesRow)
    def post(self, request: Request) -> HttpResponse:
        """Preview the next times of a schedule's expression."""
        body = read(request, PreviewBody)
        expression = normalize_expression(body.expression, body.time_zone, after=now())
        return build_response(NextTimesRow(next_times=list_next_times(expression, body.time_zone, after=now())))


def _build_row(reader: Actor, schedule: Schedule) -> ScheduleRow:
    return build_rows(reader, [schedule], [schedule.chat_id])[0]
