"""Hooks of boards. `config/hooks.py` lists their listeners."""

from actors.models import Actor
from boards.models import Board
from chats.models import Message
from common.hooks import Hook

# Called when a board has ended, before that is written, with the message that says so, and the person who has stopped it.
board_ended: Hook[[Board, Message, Actor | None]] = Hook("board_ended")
# Called when a board is paused, before that is written, with the message that says so, and the person who has paused it; null: it
# waits for a person to let it start, or to let it cost more (`Board.pause_reason`).
board_paused: Hook[[Board, Message, Actor | None]] = Hook("board_paused")
# Called when a board that was paused goes on, before that is written.
board_resumed: Hook[[Board]] = Hook("board_resumed")
