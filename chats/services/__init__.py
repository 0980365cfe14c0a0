"""The services of chats."""

from chats.services.changes import RowChange, save_changes
from chats.services.direct import hide_direct_chat, open_direct_chat
from chats.services.edits import delete_message, edit_message
from chats.services.links import accept_link, create_link, get_invitation, revoke_link
from chats.services.locking import lock_chat, lock_chat_sets, lock_chats, lock_chats_of
from chats.services.messages import (
    build_system_message,
    clean_text,
    find_mentions,
    post_message,
)
from chats.services.own_settings import archive_chat, mute_chat, restore_archived_chats, restore_chat, unmute_chat
from chats.services.participants import (
    add_participant,
    create_chat,
    leave_workspace_chats,
    publish_participants,
    remove_agent_from_chats,
    remove_participant,
    rename_chat,
    set_response,
)
from chats.services.pins import pin_message, unpin_message
from chats.services.reactions import add_reaction, remove_reaction
from chats.services.reading import ReadCursorUpdate, advance_read_cursors, mark_read
from chats.services.thumbs import give_thumb, take_back_thumb

__all__ = [
    "ReadCursorUpdate",
    "RowChange",
    "accept_link",
    "add_participant",
    "add_reaction",
    "archive_chat",
    "mute_chat",
    "restore_archived_chats",
    "restore_chat",
    "unmute_chat",
    "advance_read_cursors",
    "build_system_message",
    "clean_text",
    "create_chat",
    "create_link",
    "delete_message",
    "edit_message",
    "find_mentions",
    "get_invitation",
    "leave_workspace_chats",
    "give_thumb",
    "hide_direct_chat",
    "lock_chat",
    "lock_chats",
    "lock_chats_of",
    "lock_chat_sets",
    "mark_read",
    "open_direct_chat",
    "pin_message",
    "post_message",
    "publish_participants",
    "remove_agent_from_chats",
    "remove_participant",
    "remove_reaction",
    "rename_chat",
    "revoke_link",
    "save_changes",
    "set_response",
    "take_back_thumb",
    "unpin_message",
]
