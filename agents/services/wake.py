"""Whom a message wakes."""

from chats.models import Chat, InChat, Message


def wake_agents(chat: Chat, message: Message) -> list[InChat]:
    """The runs that a message starts."""
    return []
