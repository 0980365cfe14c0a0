"""The kinds of runs of boards: those that do their tasks, and those that put the answer of a board without a supervisor
together."""

from collections.abc import Hashable

from django.utils.translation import gettext_lazy as _

from runs.kinds.task import TaskRun
from runs.models import Run


class BoardTaskRun(TaskRun):
    """The run of one attempt at a task of a board. Those that start together are claimed together, and answers that arrive together
    are stored together."""

    name = "board_task"
    label = _("task of a board")
    can_write_files = True
    retry_refusal = _("Its board gives this task again. Retry the task there.")

    def get_group(self, run: Run) -> Hashable:
        return run.path[0], run.on_behalf_of_id


class BoardAnswerRun(TaskRun):
    """The run that puts the answer of a board together from the results of its tasks. What it writes is a reply in the chat."""

    name = "board_answer"
    label = _("answer of a board")
    retry_refusal = _("Run the board again from one of its tasks.")


BOARD_TASK = BoardTaskRun()
BOARD_ANSWER = BoardAnswerRun()
