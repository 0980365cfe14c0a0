"""The strategy by which an agent reads a long chat."""

from uuid import UUID

from actors.models import Actor
from chats import services as chats
from chats.models import Message
from context.models import AgentContext
from events.payloads import ContextStrategy


def record_strategy(chat_id: UUID, agent: Actor, strategy: ContextStrategy, *, run_id: UUID) -> Message:
    """Store that an agent reads this chat by this strategy from now on, and return the message that says so, for
    `save_changes`. The caller has locked the chat."""
    AgentContext.objects.update_or_create(chat_id=chat_id, agent=agent, defaults={"strategy": strategy})
    return chats.build_system_message(
        chat_id, "CONTEXT_STRATEGY_CHANGED", target=agent, strategy=strategy, run_id=run_id
    )
