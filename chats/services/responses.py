"""Which messages the agents of a chat answer: the default, which changes when people and agents join."""

from collections.abc import Sequence

from chats.models import Chat, ChatActor
from common.writing import RowUpdate
from events.rows import ResponseMode


def set_initial_responses(participants: Sequence[ChatActor]) -> None:
    """Set the response mode of the agents of a new chat: the only agent, and both agents of a direct chat, answer every message.

    `participants` are unsaved, and are all who are in the chat.
    """
    agents = [participant for participant in participants if participant.actor.is_agent]
    if len(agents) == 1 or len(agents) == len(participants) == 2:
        for agent in agents:
            agent.response = ResponseMode.ALWAYS


def adjust_responses(chat: Chat, joining: ChatActor) -> RowUpdate[ChatActor] | None:
    """Set the response mode of an agent that joins a locked chat, and return the update of the agent that was the only one, if
    its mode changes. A mode that somebody has set is not changed.

    In a chat of two an agent answers every message. With a second person most messages are for the other person, and with a second
    agent it is unclear which agent is addressed, so each agent answers when mentioned.
    """
    present = list(chat.participants.filter(ended_at=None).exclude(actor=joining.actor).select_related("actor"))
    default = ResponseMode.ALWAYS if len(present) == 1 else ResponseMode.MENTIONS
    if joining.actor.is_agent and not joining.is_response_chosen:
        joining.response = default
    agents = [participant for participant in present if participant.actor.is_agent]
    # The agent was alone with one person, and a second person joins; or it was the only agent, and a second agent joins.
    is_second_person_or_agent = len(agents) == 1 and (len(present) == 2 or joining.actor.is_agent)
    if is_second_person_or_agent and agents[0].response == ResponseMode.ALWAYS and not agents[0].is_response_chosen:
        return RowUpdate(agents[0]).set(response=ResponseMode.MENTIONS)
    return None
