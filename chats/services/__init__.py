"""The services of chats."""

from chats.services.changes import RowChange, save_changes
from chats.services.links import accept_link, create_link, get_invitation, revoke_link
from chats.services.locking import lock_chat, lock_chats, lock_chats_of, lock_participants
from chats.services.messages import (
    build_system_message,
    checked_text,
    mentions_in,
    post_message,
)
from chats.services.participants import (
    add_participant,
    create_chat,
    leave_workspace_chats,
    remove_agent_from_chats,
    remove_participant,
    rename_chat,
    set_wake,
    show_anew,
)
from chats.services.reading import mark_many_read, mark_read, read_up_to

__all__ = [
    "RowChange",
    "accept_link",
    "add_participant",
    "checked_text",
    "create_chat",
    "create_link",
    "lock_chat",
    "lock_chats",
    "lock_chats_of",
    "leave_workspace_chats",
    "lock_participants",
    "mark_many_read",
    "mark_read",
    "mentions_in",
    "post_message",
    "get_invitation",
    "read_up_to",
    "remove_agent_from_chats",
    "remove_participant",
    "rename_chat",
    "revoke_link",
    "save_changes",
    "set_wake",
    "show_anew",
    "build_system_message",
]
