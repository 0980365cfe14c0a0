"""Factories of embedding models and embedded chats."""

from factory.django import DjangoModelFactory

from embeddings.models import EmbeddedChat, EmbeddingModel


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
