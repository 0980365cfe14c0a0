"""Which messages a run answers: those that address its agent, and that it has read. Each is in one run of the agent."""

from typing import Any
from uuid import UUID

from actors.models import Kind
from chats.models import ChatActor, Response
from common.writing import RowUpdate
from runs.hot_queries import SPOKEN_MESSAGES
from runs.models import Run

MAX_ANSWERED = 100
"""The newest messages that are listed as answered."""


def add_answered_messages(update: RowUpdate[Run], since: int) -> None:
    """Add the messages after `since` that address the agent of the run to those that it answers. The chat is locked, and its newest
    version is `read_to`.

    Without a change since the message that woke the agent, it makes no query. Others may have written since, or the agent itself,
    in an earlier run: then the answer quotes its message, so that a reader can tell which answer belongs to which question.
    """
    run = update.row
    if run.read_to == run.trigger_seq:
        return
    rows: list[Any] = SPOKEN_MESSAGES.all(run.get_chat_id(), since)
    setting = ChatActor.objects.filter(chat=run.chat_id, actor=run.agent_id).values_list("response", flat=True).first()
    found: list[UUID] = []
    for row in reversed(rows):
        is_addressed = str(run.agent_id) in (row.mentions or ())
        if row.kind == Kind.HUMAN or run.get_chat().is_between_agents:
            is_addressed = is_addressed or row.answered_author_id == run.agent_id or setting == Response.ALWAYS
        is_own = row.author_id == run.agent_id
        if is_addressed and not is_own and row.wake != "nobody" and row.id not in run.answered_ids:
            found.append(row.id)
    if found:
        update.set(answered_ids=[*run.answered_ids, *found][-MAX_ANSWERED:])
    if run.trigger_id in run.answered_ids and any(row.seq > run.trigger_seq for row in rows):
        update.set(quotes_trigger=True)
