"""Factories of embedding models and embedded chats."""

from factory.declarations import LazyFunction, SelfAttribute
from factory.django import DjangoModelFactory

from common.ids import new_id
from embeddings.models import EmbeddedChat, EmbeddingModel, MessageEmbedding


class EmbeddingModelFactory(DjangoModelFactory[EmbeddingModel]):
    """The embedding model of a workspace, without a key."""

    class Meta:
        model = EmbeddingModel

    provider = "openai"
    default_model = "text-embedding-3-small"


class EmbeddedChatFactory(DjangoModelFactory[EmbeddedChat]):
    """A chat whose messages are embedded."""

    class Meta:
        model = EmbeddedChat


class MessageEmbeddingFactory(DjangoModelFactory[MessageEmbedding]):
    """The row of a message that is embedded, without the numbers."""

    class Meta:
        model = MessageEmbedding

    chat = SelfAttribute("message.chat")
    seq = SelfAttribute("message.seq")
    generation = LazyFunction(new_id)
    digest = b"digest"
