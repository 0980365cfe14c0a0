"""The rows of the API: the same in REST responses and in frames. TypeScript types are generated from them.

A row that belongs to a chat carries `version`: the chat's version at its last change. The client upserts by
(`kind`, `id`) and keeps the higher version, so that applying a row twice or late changes nothing.
"""

from events.payloads import Stamp
from events.row import Row
from events.rows.agents import (
    AgentRow,
    AgentSummaryRow,
    DiffRow,
    DraftSnapshotRow,
    DraftTrialRow,
    FieldChange,
    LockedDraftRow,
    LockWaiterRow,
    ReplyRow,
    SpecRow,
    ToolConfigRow,
    ToolRow,
)
from events.rows.avatars import AutomaticAvatar, Avatar, EmojiAvatar, LetterAvatar, NewAvatar, dump_avatar
from events.rows.chats import (
    AnyRow,
    ChatActivityRow,
    ChatRow,
    ChatSummaryRow,
    Choice,
    Conflict,
    Contributor,
    DraftRow,
    LinkRow,
    ParticipantRow,
    Provenance,
    RunRow,
    Segment,
    VoteCount,
)
from events.rows.messages import MESSAGE_ROWS, MessageRow
from events.rows.notifications import NotificationRow
from events.rows.people import (
    ActorRow,
    ApiTokenRow,
    MembershipRow,
    ModelRow,
    RoleName,
    WorkspaceRow,
)
from events.rows.suggestions import ListedSuggestionRow, MergeRow, SuggestionDetailRow, SuggestionRow

__all__ = [
    "MESSAGE_ROWS",
    "ActorRow",
    "AgentRow",
    "AgentSummaryRow",
    "AnyRow",
    "ApiTokenRow",
    "AutomaticAvatar",
    "Avatar",
    "ChatActivityRow",
    "ChatRow",
    "ChatSummaryRow",
    "Choice",
    "Conflict",
    "Contributor",
    "DiffRow",
    "DraftRow",
    "DraftSnapshotRow",
    "DraftTrialRow",
    "EmojiAvatar",
    "FieldChange",
    "LetterAvatar",
    "LinkRow",
    "ListedSuggestionRow",
    "LockWaiterRow",
    "LockedDraftRow",
    "MembershipRow",
    "MergeRow",
    "MessageRow",
    "ModelRow",
    "NewAvatar",
    "NotificationRow",
    "ParticipantRow",
    "Provenance",
    "ReplyRow",
    "RoleName",
    "Row",
    "RunRow",
    "Segment",
    "SpecRow",
    "Stamp",
    "SuggestionDetailRow",
    "SuggestionRow",
    "ToolConfigRow",
    "ToolRow",
    "VoteCount",
    "WorkspaceRow",
    "dump_avatar",
]
