"""The query strings of the inspector."""

from uuid import UUID

from common.paging import PageQuery
from inspector.selectors import RunOutcome


class AgentRunsQuery(PageQuery):
    """`chat`: only the runs of this chat."""

    chat: UUID | None = None
    state: RunOutcome = "all"
