"""Factories of rows in a chat."""

from factory.declarations import LazyAttribute, LazyFunction, SelfAttribute
from factory.django import DjangoModelFactory

from chats.models import Message
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
