"""When the agents of a chat answer without being mentioned, as people and agents join."""

from collections.abc import Sequence

from chats.models import Chat, ChatActor, Wake
from common.writing import RowUpdate


def set_initial_wake(participants: Sequence[ChatActor]) -> None:
    """Let the only agent of a new chat answer every message: whoever made the chat wants to talk with it."""
    agents = [participant for participant in participants if participant.actor.is_agent]
    if len(agents) == 1:
        agents[0].wake = Wake.ALWAYS


def adjust_wake_settings(chat: Chat, joining: ChatActor) -> RowUpdate[ChatActor] | None:
    """Return the update of the agent that from now on answers only when mentioned, because an actor joins the chat.

    The only agent answers every message of one person. With a second person most messages are for other people, and with
    a second agent it is not clear who is meant. An agent that joins answers every message only where it is alone with one
    person. What people have set in a chat of several is left as it is. The chat is locked.
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
