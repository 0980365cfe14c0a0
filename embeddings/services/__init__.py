"""The services of embeddings."""

from embeddings.services.settings import delete_embedding_key, delete_embedding_model, set_embedding_model

__all__ = [
    "delete_embedding_key",
    "delete_embedding_model",
    "set_embedding_model",
]
