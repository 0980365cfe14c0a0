"""The summary of a chat, and what the models of a workspace read of long chats."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from chats.permissions import ChatVerb, get_chat_for
from common.rest import Request, build_response, read
from context import services as context
from context.api.bodies import ContextSettingsBody, CorrectionBody
from context.selectors import build_settings_row, build_summary_row
from events.rows import ContextSettingsRow, HistorySummaryRow
from workspaces.permissions import WorkspaceVerb, get_workspace_for


class Summary(APIView):
    @extend_schema(operation_id="read_summary", responses=HistorySummaryRow)
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Read the summary of a chat's earlier messages."""
        return build_response(build_summary_row(get_chat_for(request.user, chat_id, ChatVerb.SEE)))

    @extend_schema(operation_id="request_summary", request=None, responses={202: HistorySummaryRow})
    def post(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Have the summary of a chat written anew."""
        context.request_summary(request.user, chat_id)
        return build_response(build_summary_row(get_chat_for(request.user, chat_id, ChatVerb.SEE)), 202)


class OneSentence(APIView):
    @extend_schema(operation_id="correct_sentence", request=CorrectionBody, responses=HistorySummaryRow)
    def put(self, request: Request, chat_id: UUID, sentence_id: UUID) -> HttpResponse:
        """Correct a sentence in the summary of a chat."""
        chat = context.correct_sentence(request.user, chat_id, sentence_id, text=read(request, CorrectionBody).text)
        return build_response(build_summary_row(chat))


class OneCorrection(APIView):
    @extend_schema(operation_id="undo_correction", responses=HistorySummaryRow)
    def delete(self, request: Request, chat_id: UUID, correction_id: UUID) -> HttpResponse:
        """Undo the correction of a sentence in the summary of a chat."""
        return build_response(build_summary_row(context.undo_correction(request.user, chat_id, correction_id)))


class WorkspaceContextSettings(APIView):
    @extend_schema(operation_id="read_context_settings", responses=ContextSettingsRow)
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Read the settings of long conversations in a workspace."""
        return build_response(build_settings_row(get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)))

    @extend_schema(operation_id="change_context_settings", request=ContextSettingsBody, responses=ContextSettingsRow)
    def put(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Change the settings of long conversations in a workspace."""
        body = read(request, ContextSettingsBody)
        workspace = context.change_context_settings(
            request.user,
            workspace_id,
            strategy=body.strategy,
            max_tokens=body.max_tokens,
            revision=body.revision,
        )
        return build_response(build_settings_row(workspace))
