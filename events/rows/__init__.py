"""The rows of the API: the same in REST responses and in frames. TypeScript types are generated from them.

A row of a chat has a `version`: the chat's version at the last change of the row. Clients upsert rows by `kind` and `id` and keep
the higher version, so a row may arrive twice or late.
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
    WakeSetting,
)
from events.rows.messages import MESSAGE_ROWS, MessageRow
from events.rows.notifications import NotificationRow
from events.rows.people import (
    ActorRow,
    ApiTokenRow,
    MembershipRow,
    ModelRow,
    RoleName,
    TokenScopeName,
    WorkspaceRow,
)
from events.rows.suggestions import ListedSuggestionRow, MergeRow, SuggestionDetailRow, SuggestionRow

__all__ = [
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
    "MESSAGE_ROWS",
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
    "TokenScopeName",
    "ToolRow",
    "VoteCount",
    "WakeSetting",
    "WorkspaceRow",
    "dump_avatar",
]
