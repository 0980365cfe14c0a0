"""The `wake` settings of agents, which change when people and agents join a chat."""

from collections.abc import Sequence

from chats.models import Chat, ChatActor, Wake
from common.writing import RowUpdate


def set_initial_wake(participants: Sequence[ChatActor]) -> None:
    """Set the only agent of a new chat to answer every message. With several agents each answers when mentioned."""
    agents = [participant for participant in participants if participant.actor.is_agent]
    if len(agents) == 1:
        agents[0].wake = Wake.ALWAYS


def adjust_wake_settings(chat: Chat, joining: ChatActor) -> RowUpdate[ChatActor] | None:
    """Set the `wake` setting of an agent that joins a chat, and return the update of the agent that was there alone, if any.

    An agent that is alone with one person answers every message. With a second person most messages are for the other
    person, and with a second agent it is unclear which agent is addressed, so each agent answers when mentioned. Settings
    in a chat with several people or agents are not changed. The chat must be locked.
    """
    participants = list(chat.participants.filter(ended_at=None).exclude(actor=joining.actor).select_related("actor"))
    agents = [participant for participant in participants if participant.actor.is_agent]
    people = len(participants) - len(agents)
    if joining.actor.is_agent and joining._state.adding:
        joining.wake = Wake.ALWAYS if not agents and people == 1 else Wake.MENTION
    is_second = len(agents) == 1 and (people == 1 or joining.actor.is_agent)
    if is_second and agents[0].wake == Wake.ALWAYS:
        return RowUpdate(agents[0]).set(wake=Wake.MENTION)
    return None
