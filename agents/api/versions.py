"""The versions of an agent, and the texts behind its stamps."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.views import APIView

from actors.models import Actor
from agents.models import AgentSpec
from agents.models.specs import with_tools
from agents.permissions import AgentVerb, get_agent_for
from agents.selectors import replies_with, reply_rows
from agents.services import versions
from common.paging import PAGED, Paged, answer_page
from common.rest import Body, Page, Request, answer, query_parameters, read, read_query
from events.rows import DiffRow, ReplyRow, SpecRow


class RestoreBody(Body):
    """`base_version` is the production that is to be replaced; `chat_id` a chat in which it is told."""

    base_version: int
    message: str = Field(default="", max_length=400)
    chat_id: UUID | None = None


class DiffQuery(Body):
    a: int
    b: int


def _seen(request: Request, agent_id: UUID) -> Actor:
    return get_agent_for(request.user, agent_id, AgentVerb.SEE)


_VERSIONS: Paged[AgentSpec] = Paged(
    lambda agent_id: AgentSpec.objects.filter(agent=agent_id, number__isnull=False).prefetch_related(with_tools()),
    UUID,
    by="-number",
)


class Versions(APIView):
    @extend_schema(operation_id="list_versions", parameters=PAGED, responses=Page[SpecRow])
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        return _VERSIONS.answer(request, _seen(request, agent_id).pk)


class OneVersion(APIView):
    @extend_schema(operation_id="read_version", responses=SpecRow)
    def get(self, request: Request, agent_id: UUID, number: int) -> HttpResponse:
        return answer(versions.get_version(_seen(request, agent_id), number).row())


class OneSpec(APIView):
    @extend_schema(operation_id="read_spec", responses=SpecRow)
    def get(self, request: Request, agent_id: UUID, spec_id: UUID) -> HttpResponse:
        return answer(versions.get_spec(_seen(request, agent_id), spec_id, request.user).row())


class Replies(APIView):
    @extend_schema(operation_id="list_version_replies", parameters=PAGED, responses=Page[ReplyRow])
    def get(self, request: Request, agent_id: UUID, number: int) -> HttpResponse:
        spec = versions.get_version(_seen(request, agent_id), number)
        return answer_page(request, replies_with(spec, request.user), by="-created_at", shown=reply_rows)


class Diff(APIView):
    @extend_schema(operation_id="diff_versions", parameters=query_parameters(DiffQuery), responses=DiffRow)
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        query = read_query(request, DiffQuery)
        return answer(versions.diff_versions(_seen(request, agent_id), query.a, query.b))


class Restore(APIView):
    @extend_schema(operation_id="restore_version", request=RestoreBody, responses=SpecRow)
    def post(self, request: Request, agent_id: UUID, number: int) -> HttpResponse:
        body = read(request, RestoreBody)
        spec = versions.restore_version(
            actor=request.user, agent_id=agent_id, number=number, base_version=body.base_version, message=body.message,
            chat_id=body.chat_id,
        )  # fmt: skip
        return answer(spec.row())
