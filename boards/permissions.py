"""Rights to boards. The readers of its chat see a board; the person whom it works for, the one who has started it, and editors
control it."""

from enum import StrEnum
from uuid import UUID

from actors.models import Actor
from boards.models import Board
from chats.permissions import ChatVerb, compute_chat_verbs, get_chat_for
from common.access import replace_not_found
from common.errors import Forbidden, NotFound


class BoardVerb(StrEnum):
    """What an actor may do with a board: see it; stop or pause it; let it go on, retry its tasks, have it answered and run it
    again (`control`); let it cost more, which only the person who has started it and editors may."""

    SEE = "see"
    STOP = "stop"
    CONTROL = "control"
    RAISE_LIMIT = "raise_limit"


def get_board_for(actor: Actor, board_id: UUID, verb: BoardVerb, *, lock: bool = False) -> Board:
    """Return the board if the actor may do this with it. `lock`: lock its chat, and then the board. Raises `NotFound`,
    `Forbidden`."""
    with replace_not_found("board"):
        found = Board.objects.filter(pk=board_id).values_list("chat", "on_behalf_of", "started_by").first()
        if found is None:
            raise NotFound("There is no such board.")
        chat_id, person_id, starter_id = found
        chat = get_chat_for(actor, chat_id, ChatVerb.SEE, lock=lock)
    verbs = compute_chat_verbs(chat)
    own = {starter_id} if verb == BoardVerb.RAISE_LIMIT else {person_id, starter_id}
    of_any = ChatVerb.STOP_ANY_RUN if verb == BoardVerb.STOP else ChatVerb.DECIDE_ANY_APPROVAL
    may_control = of_any in verbs or (ChatVerb.STOP_OWN_RUN in verbs and actor.id in own)
    if verb != BoardVerb.SEE and not may_control:
        raise Forbidden(
            "Only the person whom this board works for, the one who has started it, and editors may do this.",
            hints=["Ask one of them."],
        )
    boards = Board.objects.select_for_update(of=("self",), no_key=True) if lock else Board.objects.all()
    board = boards.filter(pk=board_id).first()
    if board is None:
        raise NotFound("There is no such board.")
    board.chat = chat
    return board
