"""The query strings of the inspector."""

from uuid import UUID

from common.paging import PageQuery
from inspector.selectors import RunStateFilter


class AgentRunsQuery(PageQuery):
    """`chat`: only the runs of this chat."""

    chat: UUID | None = None
    state: RunStateFilter = "all"
