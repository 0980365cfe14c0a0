"""The services of embeddings."""

from embeddings.services.embedding import embed_due_chats, mark_chat_due, send_embedding_task_on_commit
from embeddings.services.request_vectors import compute_vector
from embeddings.services.settings import delete_embedding_key, delete_embedding_model, set_embedding_model

__all__ = [
    "compute_vector",
    "embed_due_chats",
    "mark_chat_due",
    "send_embedding_task_on_commit",
    "delete_embedding_key",
    "delete_embedding_model",
    "set_embedding_model",
]
