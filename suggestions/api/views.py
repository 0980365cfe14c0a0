"""Create, list, read and decide suggestions."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from common.rest import Page, Request, build_list_response, build_query_parameters, build_response, read, read_query
from events.rows import DraftSuggestionsRow, ListedSuggestionRow, MergeRow, SuggestionDetailRow, SuggestionRow
from suggestions import services as suggestions
from suggestions.api.bodies import (
    AcceptBody,
    CountRow,
    NewSuggestionBody,
    RejectBody,
    SuggestBody,
    SuggestionsQuery,
)
from suggestions.permissions import SuggestionVerb, get_suggestion_for
from suggestions.selectors import (
    count_pending,
    get_merge_row,
    get_suggestion_detail,
    get_suggestion_row,
    list_suggestion_rows,
    list_suggestions,
)
from workspaces.permissions import WorkspaceVerb, get_workspace_for


class SuggestDraft(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="suggest_draft", request=SuggestBody, responses={201: SuggestionRow})
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Suggest a draft as the next version of its agent."""
        body = read(request, SuggestBody)
        suggestion = suggestions.suggest_draft(request.user, chat_id, agent_id, revision=body.revision, note=body.note)
        return build_response(get_suggestion_row(request.user, suggestion.id), 201)


class DraftSuggestions(APIView):
    @extend_schema(operation_id="read_draft_suggestions", responses=DraftSuggestionsRow)
    def get(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Read the suggestions that are merged into a draft."""
        return build_response(suggestions.read_draft_suggestions(request.user, chat_id, agent_id))


class SuggestSpec(APIView):
    person_buckets = ("jobs",)

    @extend_schema(
        operation_id="suggest_spec",
        request=NewSuggestionBody,
        responses={200: SuggestionRow, 201: SuggestionRow},
    )
    def post(self, request: Request, chat_id: UUID, agent_id: UUID) -> HttpResponse:
        """Suggest a spec as the next version of an agent, without a draft."""
        body = read(request, NewSuggestionBody)
        suggestion, is_new = suggestions.suggest_spec(
            request.user,
            chat_id,
            agent_id,
            id=body.id,
            content=body.content,
            base_version=body.base_version,
            note=body.note,
        )
        return build_response(get_suggestion_row(request.user, suggestion.id), 201 if is_new else 200)


class Suggestions(APIView):
    @extend_schema(
        operation_id="list_suggestions",
        parameters=build_query_parameters(SuggestionsQuery),
        responses=Page[ListedSuggestionRow],
    )
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """List the suggestions for the agents of a workspace."""
        query = read_query(request, SuggestionsQuery)
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        rows = list_suggestions(workspace)
        if query.state != "all":
            rows = rows.filter(state=query.state)
        if query.agent_id is not None:
            rows = rows.filter(agent=query.agent_id)
        if query.author_id is not None:
            rows = rows.filter(author=query.author_id)
        return build_list_response(*list_suggestion_rows(request.user, rows, query))


class PendingCount(APIView):
    @extend_schema(operation_id="count_suggestions", responses=CountRow)
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Count the suggestions that wait for a decision."""
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        return build_response(CountRow(pending=count_pending(workspace)))


class OneSuggestion(APIView):
    person_buckets = ("diffs",)

    @extend_schema(operation_id="read_suggestion", responses=SuggestionDetailRow)
    def get(self, request: Request, suggestion_id: UUID) -> HttpResponse:
        """Read a suggestion with its differences from base and production."""
        suggestion = get_suggestion_for(request.user, suggestion_id, SuggestionVerb.SEE)
        return build_response(get_suggestion_detail(request.user, suggestion.id))


class RejectSuggestion(APIView):
    @extend_schema(operation_id="reject_suggestion", request=RejectBody, responses=SuggestionRow)
    def post(self, request: Request, suggestion_id: UUID) -> HttpResponse:
        """Reject a suggestion."""
        reason = read(request, RejectBody).reason
        suggestions.reject_suggestion(request.user, suggestion_id, reason=reason)
        return build_response(get_suggestion_row(request.user, suggestion_id))


class AcceptSuggestion(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="accept_suggestion", request=AcceptBody, responses={200: MergeRow, 201: MergeRow})
    def post(self, request: Request, suggestion_id: UUID) -> HttpResponse:
        """Accept a suggestion by merging it into a draft."""
        body = read(request, AcceptBody)
        merge, is_new = suggestions.accept_suggestion(request.user, suggestion_id, id=body.id, chat_id=body.chat_id)
        return build_response(get_merge_row(request.user, merge.id), 201 if is_new else 200)


class WithdrawSuggestion(APIView):
    @extend_schema(operation_id="withdraw_suggestion", request=None, responses=SuggestionRow)
    def post(self, request: Request, suggestion_id: UUID) -> HttpResponse:
        """Withdraw the reader's own suggestion."""
        suggestions.withdraw_suggestion(request.user, suggestion_id)
        return build_response(get_suggestion_row(request.user, suggestion_id))


class SummarizeSuggestion(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="summarize_suggestion", request=None, responses=SuggestionRow)
    def post(self, request: Request, suggestion_id: UUID) -> HttpResponse:
        """Have the summary of a suggestion written again after a failure."""
        suggestions.summarize_suggestion(request.user, suggestion_id)
        return build_response(get_suggestion_row(request.user, suggestion_id))
