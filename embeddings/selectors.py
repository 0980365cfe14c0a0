"""Reads of embedding models and embeddings."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import F, QuerySet

from embeddings.models import EmbeddedChat, EmbeddingModel, MessageEmbedding
from embeddings.vectors import can_store_vectors
from events.rows import EmbeddingModelRow
from workspaces.models import Workspace
from workspaces.rows import build_model_row

REPEATED = 8
"""How many times as many messages are read as are wanted, because texts are repeated."""


@dataclass(frozen=True)
class VectorRequest:
    """A text whose embedding is needed to search a chat by meaning. `person_id`: the person for whom the run works, on whose
    budgets the request counts."""

    workspace_id: UUID
    chat_id: UUID
    person_id: UUID | None
    generation: UUID
    dimensions: int
    text: str


def find_vector_request(chat_id: UUID, person_id: UUID | None, text: str) -> VectorRequest | None:
    """Return what is needed to search a chat by meaning; null if its messages have no embeddings of the present model."""
    # One `filter`: both conditions are about the same chat.
    model = EmbeddingModel.objects.filter(
        dimensions__isnull=False,
        workspace__chats=chat_id,
        workspace__chats__embedded_chat__generation=F("generation"),
    ).first()
    if model is None or model.dimensions is None or not text.strip():
        return None
    return VectorRequest(model.workspace_id, chat_id, person_id, model.generation, model.dimensions, text)


def find_by_vector(chat_id: UUID, generation: UUID, vector: str, *, before_seq: int, limit: int) -> list[UUID]:
    """Return the messages of a chat before `before_seq` whose embedding is nearest to this one, the nearest first, and each text
    once. All embeddings of the chat are compared, so none is missed."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT message_id, digest FROM embeddings_messageembedding WHERE chat_id = %s AND generation = %s AND seq < %s"
            " ORDER BY vector <=> %s::halfvec, seq DESC LIMIT %s",
            [chat_id, generation, before_seq, vector, limit * REPEATED],
        )
        nearest: dict[bytes, UUID] = {}
        for id, digest in cursor.fetchall():
            nearest.setdefault(bytes(digest), id)
    return list(nearest.values())[:limit]


def build_embedding_model_row(workspace: Workspace) -> EmbeddingModelRow:
    """Return the embedding model of a workspace, and how far its chats are embedded."""
    model = EmbeddingModel.objects.filter(workspace=workspace).first()
    if model is None:
        return EmbeddingModelRow(is_supported=can_store_vectors())
    chats = EmbeddedChat.objects.filter(chat__workspace=workspace)
    return EmbeddingModelRow(
        model=build_model_row(model),
        is_supported=True,
        dimensions=model.dimensions,
        chats=chats.count(),
        due_chats=chats.exclude(due_at=None).count(),
        failed_at=model.failed_at,
        failure_code=model.failure_code,
        failure_message=model.failure_message,
    )


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return the embedding model of a deleted workspace, and all embeddings, to purge them. A listener of
    `collect_rows_to_purge`."""
    return [
        EmbeddingModel.objects.filter(workspace=workspace),
        MessageEmbedding.objects.filter(chat__workspace=workspace),
        EmbeddedChat.objects.filter(chat__workspace=workspace),
    ]
