"""The rows on the wire: the same shapes in REST answers and in frames, declared once, mirrored in TypeScript.

A row that belongs to a chat carries `version`: the chat's version at its last change. The client upserts by
(`kind`, `id`) and keeps the higher version, so that applying a row twice or late changes nothing (architecture §7).
"""

from events.rows.agents import (
    AgentRow,
    DiffRow,
    DraftWishRow,
    EarlierTextRow,
    FieldChange,
    ReplyRow,
    SpecRow,
    ToolConfigRow,
    ToolRow,
)
from events.rows.notifications import NotificationRow
from events.rows.people import ActorRow, ApiTokenRow, MembershipRow, ModelRow, WorkspaceRow
from events.rows.rooms import (
    AnyRow,
    ChatRow,
    ChatSummaryRow,
    Choice,
    Conflict,
    DraftRow,
    LinkRow,
    MemberRow,
    MessageRow,
    Piece,
    Provenance,
    RunRow,
    Stamp,
    Tally,
    Voice,
)
from events.rows.row import Row
from events.rows.suggestions import ListedSuggestionRow, MergeRow, SuggestionDetailRow, SuggestionRow

__all__ = [
    "ActorRow",
    "AgentRow",
    "AnyRow",
    "ApiTokenRow",
    "ChatRow",
    "ChatSummaryRow",
    "Choice",
    "Conflict",
    "DiffRow",
    "DraftRow",
    "DraftWishRow",
    "EarlierTextRow",
    "FieldChange",
    "LinkRow",
    "ListedSuggestionRow",
    "MemberRow",
    "MembershipRow",
    "MergeRow",
    "MessageRow",
    "ModelRow",
    "NotificationRow",
    "Piece",
    "Provenance",
    "ReplyRow",
    "Row",
    "RunRow",
    "SpecRow",
    "Stamp",
    "SuggestionDetailRow",
    "SuggestionRow",
    "Tally",
    "ToolConfigRow",
    "ToolRow",
    "Voice",
    "WorkspaceRow",
]
