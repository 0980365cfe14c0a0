"""One side of a comparison: it reads one message, and changes nothing around it (ADR 0012)."""

from collections.abc import Sequence

from chats.models import Message, VersionedRow
from common.writing import RowUpdate
from llm.messages import Turn
from runs.kinds.chat import ChatRun
from runs.models import Run
from runs.runtime.context import LogEntry
from runs.runtime.history import read_log_until_question


class ComparisonRun(ChatRun):
    """A run in a chat that hears nobody, wakes nobody, mentions nobody and uses no tool that acts: two of them answer the
    same message, and would act twice."""

    finds_mentions = False
    uses_writing_tools = False

    def _acknowledge_messages(self, run: Run) -> list[RowUpdate[Run]]:
        return []

    def _read_log(self, run: Run, tokens: int) -> list[LogEntry]:
        return read_log_until_question(run, tokens)

    def _read_new_turns(self, run: Run) -> Sequence[Turn]:
        return ()

    def _call_hook(self, run: Run, message: Message) -> Sequence[VersionedRow]:
        return ()


COMPARISON = ComparisonRun()
