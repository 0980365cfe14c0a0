"""The versions of an agent, and the drafts that were applied in chats."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.views import APIView

from agents import selectors
from agents.services import specs
from common.paging import MAX_LARGE_ROWS, PAGE_PARAMETERS, answer_page
from common.request_types import Version
from common.rest import Body, Page, Request, build_query_parameters, build_response, read, read_query
from events.rows import DiffRow, SpecRow


class RestoreBody(Body):
    base_version: Version
    """The production version that the reader saw."""
    message: str = Field(default="", max_length=400)
    """What has changed, for the list of versions."""
    chat_id: UUID | None = None
    """A chat in which a message about it is posted."""


class DiffQuery(Body):
    a: Version
    b: Version


class Versions(APIView):
    @extend_schema(operation_id="list_versions", parameters=PAGE_PARAMETERS, responses=Page[SpecRow])
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """List the saved versions of an agent."""
        rows = selectors.list_versions(request.user, agent_id)
        return answer_page(request, rows, by="-number", max_rows=MAX_LARGE_ROWS)


class OneVersion(APIView):
    @extend_schema(operation_id="read_version", responses=SpecRow)
    def get(self, request: Request, agent_id: UUID, number: int) -> HttpResponse:
        """Read a version of an agent."""
        return build_response(selectors.get_version(request.user, agent_id, number).to_row())


class OneSpec(APIView):
    @extend_schema(operation_id="read_spec", responses=SpecRow)
    def get(self, request: Request, agent_id: UUID, spec_id: UUID) -> HttpResponse:
        """Read a spec of an agent: a version, or one that was applied in a chat of the reader."""
        return build_response(selectors.get_spec(request.user, agent_id, spec_id).to_row())


class VersionDiff(APIView):
    person_buckets = ("diffs",)

    @extend_schema(operation_id="diff_versions", parameters=build_query_parameters(DiffQuery), responses=DiffRow)
    def get(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Compare two versions of an agent."""
        query = read_query(request, DiffQuery)
        return build_response(selectors.diff_versions(request.user, agent_id, query.a, query.b))


class AppliedDiff(APIView):
    person_buckets = ("diffs",)

    @extend_schema(operation_id="diff_applied_spec", responses=DiffRow)
    def get(self, request: Request, chat_id: UUID, message_id: UUID) -> HttpResponse:
        """Compare an applied draft with what answered before it."""
        return build_response(selectors.diff_applied_spec(request.user, chat_id, message_id))


class RestoreVersion(APIView):
    @extend_schema(operation_id="restore_version", request=RestoreBody, responses=SpecRow)
    def post(self, request: Request, agent_id: UUID, number: int) -> HttpResponse:
        """Save an old version of an agent as its next version."""
        body = read(request, RestoreBody)
        spec = specs.restore_version(
            request.user,
            agent_id,
            number,
            base_version=body.base_version,
            message=body.message,
            chat_id=body.chat_id,
        )
        return build_response(spec.to_row())
