"""The writes of chats, one door each."""

from chats.services.changes import changed
from chats.services.holding import hold_chat, hold_chats
from chats.services.links import accept_link, create_link, read_link, revoke_link
from chats.services.members import (
    add_member,
    create_chat,
    hold_places,
    leave_workspace_chats,
    remove_member,
    rename_chat,
    set_wake,
    show_anew,
)
from chats.services.messages import (
    checked_text,
    mark_read,
    mentions_in,
    post_message,
    post_message_once,
    read_up_to,
    system_line,
)

__all__ = [
    "accept_link",
    "add_member",
    "changed",
    "checked_text",
    "create_chat",
    "create_link",
    "hold_chat",
    "hold_chats",
    "hold_places",
    "leave_workspace_chats",
    "mark_read",
    "mentions_in",
    "post_message",
    "post_message_once",
    "read_link",
    "read_up_to",
    "remove_member",
    "rename_chat",
    "revoke_link",
    "set_wake",
    "show_anew",
    "system_line",
]
