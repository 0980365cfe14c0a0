"""The services of boards."""

from boards.services.planning import create_board, decompose_board, fail_plan, open_board

__all__ = ["create_board", "decompose_board", "fail_plan", "open_board"]
