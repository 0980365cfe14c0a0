"""Which messages the agents of a chat answer: the default, which changes when people and agents join."""

from collections.abc import Sequence

from chats.models import Chat, ChatActor, Response
from common.writing import RowUpdate


def set_initial_responses(participants: Sequence[ChatActor]) -> None:
    """Set the response mode of the agents of a new chat. `participants` are unsaved, and are all who are in the chat."""
    default = compute_default_response(participants)
    for participant in participants:
        if participant.actor.is_agent:
            participant.response = default


def compute_default_response(participants: Sequence[ChatActor]) -> Response:
    """Return the mode of an agent for which nobody has set one: `always` in a chat of two, else `mentions`.

    With a second person most messages are for the other person, and with a second agent it is unclear which agent is addressed.
    """
    is_with_agent = any(participant.actor.is_agent for participant in participants)
    return Response.ALWAYS if is_with_agent and len(participants) == 2 else Response.MENTIONS


def adjust_responses(chat: Chat, joining: ChatActor) -> RowUpdate[ChatActor] | None:
    """Set the response mode of an agent that joins a locked chat, and return the update of the agent that answered all messages
    until then, if any. A mode that somebody has set is not changed.
    """
    present = list(chat.participants.filter(ended_at=None).exclude(actor=joining.actor).select_related("actor"))
    default = compute_default_response([*present, joining])
    if joining.actor.is_agent and not joining.is_response_chosen:
        joining.response = default
    for participant in present:
        is_default = participant.actor.is_agent and not participant.is_response_chosen
        if is_default and participant.response == Response.ALWAYS and default != Response.ALWAYS:
            return RowUpdate(participant).set(response=default)
    return None
