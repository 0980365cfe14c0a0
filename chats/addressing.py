"""Which agents of a chat a message addresses."""

from collections.abc import Collection
from uuid import UUID

from events.rows import ResponseMode


def is_addressed(
    agent_id: UUID, response: str, *, is_like_person: bool, mentioned: Collection[UUID], replied_author_id: UUID | None
) -> bool:
    """Return whether a message addresses this agent, whose response mode in the chat is `response`.

    A message addresses the agents that it mentions. If its author is a person, or an agent in a chat between agents
    (`is_like_person`), it also addresses the agents set to `always`, and the agent to whose message it replies. `wake_agents`
    checks `never`: such an agent is addressed, but not woken. A run that reads the message anyway counts it as answered.
    """
    if agent_id in mentioned:
        return True
    return is_like_person and (agent_id == replied_author_id or response == ResponseMode.ALWAYS)
