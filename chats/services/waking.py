"""When the agents of a chat answer without being mentioned, as people and agents join."""

from collections.abc import Sequence

from chats.models import Chat, ChatActor, Wake


def set_first_wake(places: Sequence[ChatActor]) -> None:
    """Let the only agent of a new chat answer every message: whoever made the chat wants to talk with it."""
    agents = [place for place in places if place.actor.is_agent]
    if len(agents) == 1:
        agents[0].wake = Wake.ALWAYS


def change_wake_for(chat: Chat, joining: ChatActor) -> list[ChatActor]:
    """Return the agent's row, unsaved, that from now on answers only when mentioned, because somebody joins.

    The only agent answers every message of one person. With a second person most messages are for other people, and with
    a second agent it is not clear who is meant. An agent that joins answers every message only where it is alone with one
    person. What people have set in a chat of several is left as it is. The caller holds the chat.
    """
    places = list(chat.places.filter(ended_at=None).exclude(actor=joining.actor).select_related("actor"))
    agents = [place for place in places if place.actor.is_agent]
    people = len(places) - len(agents)
    if joining.actor.is_agent and joining._state.adding:
        joining.wake = Wake.ALWAYS if not agents and people == 1 else Wake.MENTION
    is_second = len(agents) == 1 and (people == 1 or joining.actor.is_agent)
    if is_second and agents[0].wake == Wake.ALWAYS:
        return [agents[0].set(wake=Wake.MENTION)]
    return []


def facts_of(changed: Sequence[ChatActor]) -> dict[str, object]:
    """Return the facts for the line of the log that says which agent changed."""
    return {"wake_id": changed[0].actor_id, "wake_name": changed[0].actor.name} if changed else {}
