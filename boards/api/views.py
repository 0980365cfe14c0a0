"""Views of boards."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from boards import services as boards
from boards.api.bodies import NewBoardBody
from boards.permissions import BoardVerb, get_board_for
from boards.plan import PlannedTask
from boards.selectors import build_detail, list_boards, list_results
from chats.permissions import ChatVerb, get_chat_for
from common.paging import PAGE_PARAMETERS, answer_page
from common.rest import Page, Request, build_list_response, build_response, read
from events.rows import BoardDetailRow, BoardRow, TaskResultDetailRow


class Boards(APIView):
    @extend_schema(
        operation_id="list_boards",
        summary="List the boards of a chat, the newest first",
        parameters=PAGE_PARAMETERS,
        responses=Page[BoardRow],
    )
    def get(self, request: Request, chat_id: UUID) -> HttpResponse:
        get_chat_for(request.user, chat_id, ChatVerb.SEE)
        return answer_page(request, list_boards(chat_id), by="-created_at")

    @extend_schema(
        operation_id="create_board",
        summary="Create a board from a plan by hand",
        request=NewBoardBody,
        responses={200: BoardDetailRow, 201: BoardDetailRow},
    )
    def post(self, request: Request, chat_id: UUID) -> HttpResponse:
        body = read(request, NewBoardBody)
        fields = body.model_dump(exclude={"tasks", "start"})
        tasks = [PlannedTask(**task.model_dump()) for task in body.tasks]
        board, is_new = boards.create_board(request.user, chat_id, tasks=tasks, **fields)
        return build_response(build_detail(board), 201 if is_new else 200)


class OneBoard(APIView):
    @extend_schema(operation_id="read_board", summary="Read a board with its tasks", responses=BoardDetailRow)
    def get(self, request: Request, board_id: UUID) -> HttpResponse:
        return build_response(build_detail(get_board_for(request.user, board_id, BoardVerb.SEE)))


class Results(APIView):
    @extend_schema(
        operation_id="list_board_results",
        summary="List the results of a board's tasks, of all attempts",
        responses=Page[TaskResultDetailRow],
    )
    def get(self, request: Request, board_id: UUID) -> HttpResponse:
        board = get_board_for(request.user, board_id, BoardVerb.SEE)
        return build_list_response(result.to_detail_row() for result in list_results(board))
