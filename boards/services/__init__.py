"""The services of boards."""

from boards.services.controlling import answer_board, pause_board, resume_board, retry_task, start_board, stop_board
from boards.services.deciding import decide_equal_calls
from boards.services.engine import advance_board, advance_boards, update_boards
from boards.services.forking import fork_board
from boards.services.planning import create_board, decompose_board, fail_plan, open_board
from boards.services.settings import change_board_settings

__all__ = [
    "advance_board",
    "advance_boards",
    "answer_board",
    "change_board_settings",
    "create_board",
    "decide_equal_calls",
    "decompose_board",
    "fail_plan",
    "fork_board",
    "open_board",
    "pause_board",
    "resume_board",
    "retry_task",
    "start_board",
    "stop_board",
    "update_boards",
]
