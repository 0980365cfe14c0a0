"""Start, list, read, stop and retry merges."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from common.paging import MAX_LARGE_ROWS, get_page
from common.rest import Page, Request, build_list_response, build_query_parameters, build_response, read, read_query
from events.rows import MergeRow
from suggestions import services as suggestions
from suggestions.api.bodies import MergeBody, MergesQuery
from suggestions.models import UNDER_WAY
from suggestions.permissions import MergeVerb, get_merge_for
from suggestions.selectors import get_merge_row, list_merge_rows, list_merges, select_merge_row_fields
from workspaces.permissions import WorkspaceVerb, get_workspace_for


class NewMerge(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="merge_suggestions", request=MergeBody, responses={200: MergeRow, 201: MergeRow})
    def post(self, request: Request, agent_id: UUID) -> HttpResponse:
        """Merge suggestions for an agent into one draft."""
        body = read(request, MergeBody)
        merge, is_new = suggestions.merge_suggestions(
            request.user, agent_id, id=body.id, suggestion_ids=body.suggestion_ids, chat_id=body.chat_id
        )
        return build_response(get_merge_row(request.user, merge.id), 201 if is_new else 200)


class Merges(APIView):
    @extend_schema(operation_id="list_merges", parameters=build_query_parameters(MergesQuery), responses=Page[MergeRow])
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """List the merges of suggestions in a workspace."""
        query = read_query(request, MergesQuery)
        rows = list_merges(get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE))
        if query.state == "active":
            rows = rows.filter(state__in=UNDER_WAY)
        page, cursor = get_page(select_merge_row_fields(rows), query, by="-created_at", max_rows=MAX_LARGE_ROWS)
        return build_list_response(list_merge_rows(request.user, page), cursor)


class OneMerge(APIView):
    @extend_schema(operation_id="read_merge", responses=MergeRow)
    def get(self, request: Request, merge_id: UUID) -> HttpResponse:
        """Read a merge of suggestions."""
        merge = get_merge_for(request.user, merge_id, MergeVerb.SEE)
        return build_response(get_merge_row(request.user, merge.id))


class StopMerge(APIView):
    @extend_schema(operation_id="stop_merge", request=None, responses=MergeRow)
    def post(self, request: Request, merge_id: UUID) -> HttpResponse:
        """Stop a merge. Its suggestions can be decided again."""
        suggestions.stop_merge(request.user, merge_id)
        return build_response(get_merge_row(request.user, merge_id))


class RetryMerge(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="retry_merge", request=None, responses=MergeRow)
    def post(self, request: Request, merge_id: UUID) -> HttpResponse:
        """Retry a merge that failed or was stopped."""
        suggestions.retry_merge(request.user, merge_id)
        return build_response(get_merge_row(request.user, merge_id))
