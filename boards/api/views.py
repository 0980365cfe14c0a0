"""Views of boards."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from actors.rates import Bucket
from boards import services as boards
from boards.api.bodies import (
    BoardSettingsBody,
    DecideEqualBody,
    EstimateBody,
    ForkBody,
    NewBoardBody,
    ResumeBody,
    RetryBody,
)
from boards.permissions import BoardVerb, get_board_for
from boards.plan import PlannedTask
from boards.selectors import build_detail, build_settings_row, list_boards, list_results
from boards.services.estimates import estimate_tasks
from chats.permissions import ChatVerb, get_chat_for
from common.paging import PAGE_PARAMETERS, answer_page
from common.rest import Page, Request, build_list_response, build_response, read
from events.rows import (
    ApprovalRow,
    BoardDetailRow,
    BoardEstimateRow,
    BoardRow,
    BoardSettingsRow,
    TaskResultDetailRow,
)
from workspaces.permissions import WorkspaceVerb, get_workspace_for


class Settings(APIView):
    @extend_schema(
        operation_id="read_board_settings",
        summary="Read what a workspace has set for boards",
        responses=BoardSettingsRow,
    )
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Read the settings of boards in a workspace."""
        return build_response(build_settings_row(get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)))

    @extend_schema(
        operation_id="change_board_settings",
        summary="Set above which estimate a board waits for a person",
        request=BoardSettingsBody,
        responses=BoardSettingsRow,
    )
    def put(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Change the settings of boards in a workspace."""
        body = read(request, BoardSettingsBody)
        workspace = boards.change_board_settings(
            request.user, workspace_id, ask_above_micro=body.ask_above_micro, revision=body.revision
        )
        return build_response(build_settings_row(workspace))


class Boards(APIView):
    def buckets(self, request: Request) -> list[Bucket]:
        return [("jobs", request.user.pk)] if request.method == "POST" else []

    @extend_schema(
        operation_id="list_boards",
        summary="List the boards of a chat, the newest first",
        parameters=PAGE_PARAMETERS,
        responses=Page[BoardRow],
    )
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        """List the boards of a chat."""
        get_chat_for(request.user, chat_id, ChatVerb.SEE)
        return answer_page(request, list_boards(chat_id), by="-created_at")

    @extend_schema(
        operation_id="create_board",
        summary="Create a board from a plan by hand",
        request=NewBoardBody,
        responses={200: BoardDetailRow, 201: BoardDetailRow},
    )
    def post(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Create a board: tasks for agents, and the order in which they work."""
        body = read(request, NewBoardBody)
        fields = body.model_dump(exclude={"tasks"})
        tasks = [PlannedTask(**task.model_dump()) for task in body.tasks]
        board, is_new = boards.create_board(request.user, chat_id, tasks=tasks, **fields)
        return build_response(build_detail(board), 201 if is_new else 200)


class Estimate(APIView):
    @extend_schema(
        operation_id="estimate_board",
        summary="Estimate what a plan may cost",
        request=EstimateBody,
        responses=BoardEstimateRow,
    )
    def post(self, request: Request, chat_id: UUID) -> HttpResponse:
        """Estimate what tasks of these agents may cost."""
        chat = get_chat_for(request.user, chat_id, ChatVerb.SEE)
        estimate = estimate_tasks(chat.workspace_id, read(request, EstimateBody).agent_ids)
        return build_response(BoardEstimateRow(estimate_micro=estimate))


class OneBoard(APIView):
    @extend_schema(operation_id="read_board", summary="Read a board with its tasks", responses=BoardDetailRow)
    def get(self, request: Request, board_id: UUID) -> HttpResponse:
        """Read a board with its tasks."""
        return build_response(build_detail(get_board_for(request.user, board_id, BoardVerb.SEE)))


class Results(APIView):
    @extend_schema(
        operation_id="list_board_results",
        summary="List the results of a board's tasks, of all attempts",
        responses=Page[TaskResultDetailRow],
    )
    def get(self, request: Request, board_id: UUID) -> HttpResponse:
        """List the results of a board's tasks."""
        board = get_board_for(request.user, board_id, BoardVerb.SEE)
        return build_list_response(result.to_detail_row() for result in list_results(board))


class Start(APIView):
    person_buckets = ("jobs",)

    @extend_schema(operation_id="start_board", summary="Start a planned board", request=None, responses=BoardDetailRow)
    def post(self, request: Request, board_id: UUID) -> HttpResponse:
        """Start a planned board."""
        return build_response(build_detail(boards.start_board(request.user, board_id)))


class Stop(APIView):
    @extend_schema(
        operation_id="stop_board", summary="Stop a board with all its runs", request=None, responses=BoardDetailRow
    )
    def post(self, request: Request, board_id: UUID) -> HttpResponse:
        """Stop a board with all its runs."""
        return build_response(build_detail(boards.stop_board(request.user, board_id)))


class Pause(APIView):
    @extend_schema(
        operation_id="pause_board",
        summary="Start nothing more of a board until it is resumed",
        request=None,
        responses=BoardDetailRow,
    )
    def post(self, request: Request, board_id: UUID) -> HttpResponse:
        """Pause a board: nothing more of it starts until it is resumed."""
        return build_response(build_detail(boards.pause_board(request.user, board_id)))


class Resume(APIView):
    person_buckets = ("jobs",)

    @extend_schema(
        operation_id="resume_board",
        summary="Let a paused board go on, or let it cost more",
        request=ResumeBody,
        responses=BoardDetailRow,
    )
    def post(self, request: Request, board_id: UUID) -> HttpResponse:
        """Resume a paused board, also with another limit of its cost."""
        body = read(request, ResumeBody)
        return build_response(build_detail(boards.resume_board(request.user, board_id, limit_micro=body.limit_micro)))


class Answer(APIView):
    person_buckets = ("jobs",)

    @extend_schema(
        operation_id="answer_board",
        summary="Have a board answered with what there is",
        request=None,
        responses=BoardDetailRow,
    )
    def post(self, request: Request, board_id: UUID) -> HttpResponse:
        """Have the answer of a board put together from the results that exist."""
        return build_response(build_detail(boards.answer_board(request.user, board_id)))


class Retry(APIView):
    person_buckets = ("jobs",)

    @extend_schema(
        operation_id="retry_board_task",
        summary="Try a failed task of a board again",
        request=RetryBody,
        responses=BoardDetailRow,
    )
    def post(self, request: Request, board_id: UUID, number: int) -> HttpResponse:
        """Try a failed task of a board again."""
        body = read(request, RetryBody)
        return build_response(build_detail(boards.retry_task(request.user, board_id, number, **body.model_dump())))


class Fork(APIView):
    person_buckets = ("jobs",)

    @extend_schema(
        operation_id="fork_board",
        summary="Run an ended board again from one of its tasks",
        request=ForkBody,
        responses={200: BoardDetailRow, 201: BoardDetailRow},
    )
    def post(self, request: Request, board_id: UUID) -> HttpResponse:
        """Run an ended board again from one of its tasks, as a new board."""
        board, is_new = boards.fork_board(request.user, board_id, **read(request, ForkBody).model_dump())
        return build_response(build_detail(board), 201 if is_new else 200)


class DecideEqual(APIView):
    person_buckets = ("jobs",)

    @extend_schema(
        operation_id="decide_equal_calls",
        summary="Decide about equal calls in the tasks of a board together",
        request=DecideEqualBody,
        responses=Page[ApprovalRow],
    )
    def post(self, request: Request, board_id: UUID, approval_id: UUID) -> HttpResponse:
        """Decide a call of a board's task and the equal calls of its other tasks."""
        body = read(request, DecideEqualBody)
        decided = boards.decide_equal_calls(request.user, board_id, approval_id, **body.model_dump())
        return build_list_response(approval.to_row(request.user) for approval in decided)
