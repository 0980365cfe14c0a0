"""Factories of rows in a chat."""

from typing import Any

from factory.declarations import LazyAttribute, LazyFunction, SelfAttribute
from factory.django import DjangoModelFactory

from actors.models import Actor
from chats.models import Chat, Message, MessageRevision, Thumb
from common.clock import now


class MessageFactory(DjangoModelFactory[Message]):
    """A message with a `seq` of the caller's choice; the caller raises the chat's version to it.

    A message that people post is created by `chats.services.post_message`.
    """

    class Meta:
        model = Message

    class Params:
        text = "hi"

    type = "TEXT_MESSAGE"
    version = SelfAttribute("seq")
    payload = LazyAttribute(lambda message: {"text": message.text, "mentions": []})
    created_at = LazyFunction(now)


class MessageRevisionFactory(DjangoModelFactory[MessageRevision]):
    """An earlier text of a message."""

    class Meta:
        model = MessageRevision

    text = "We are 12."
    written_at = SelfAttribute("message.created_at")
    replaced_at = LazyFunction(now)


def make_answer(chat: Chat, agent: Actor, text: str = "We are 12.", **stamp: Any) -> Message:
    """Store an answer of an agent in a chat, without a run. `stamp`: fields of its stamp besides the version of the agent."""
    chat.refresh_from_db(fields=["version"])
    Chat.objects.filter(pk=chat.pk).update(version=chat.version + 1)
    stamp = {"spec_id": str(agent.current_spec_id), "version": 1} | stamp
    payload = {"text": text, "mentions": [], "stamp": stamp}
    return MessageFactory.create(chat=chat, seq=chat.version + 1, author=agent, payload=payload)


class ThumbFactory(DjangoModelFactory[Thumb]):
    """A thumb of a `person` on a `message` of an agent, without a copy in the row of the message (`chats.services.give_thumb`)."""

    class Meta:
        model = Thumb

    chat = SelfAttribute("message.chat")
    agent = SelfAttribute("message.author")
    value = "down"
    created_at = LazyFunction(now)
