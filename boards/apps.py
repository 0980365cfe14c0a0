"""The app configuration. It registers the kinds of runs of boards, and that runs wait for boards."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class BoardsConfig(AppConfig):
    name = "boards"
    verbose_name = _("Boards")

    def ready(self) -> None:
        from boards.run_kinds import BOARD_ANSWER, BOARD_TASK
        from boards.services.waiting import BOARD_WAITS
        from runs.kinds import register_kind
        from runs.runtime.waits import register_wait_kind

        for kind in (BOARD_TASK, BOARD_ANSWER):
            register_kind(kind)
        register_wait_kind(BOARD_WAITS)
