"""Listeners of the hooks of other apps, which `config/hooks.py` lists."""

from boards.selectors import list_boards_of_message
from boards.services.planning import NO_REQUEST
from chats import services as chats
from chats.hooks import MessageChange
from chats.services import RowChange
from common.writing import RowUpdate


def remove_deleted_request(change: MessageChange) -> list[RowChange]:
    """Take the text of a deleted message out of the boards that were made for it, and of those that repeat them. A listener of
    `message_changed`."""
    boards = list_boards_of_message(change.chat.id, change.message.id) if change.is_deleted else []
    if boards:
        # Written at once: a board whose supervisor is stopped is loaded and written again after this.
        chats.save_changes(change.chat.id, [RowUpdate(board).set(user_input=NO_REQUEST) for board in boards])
    return []
