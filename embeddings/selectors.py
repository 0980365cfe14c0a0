"""Reads of embedding models and embeddings."""

from typing import Any

from django.db.models import QuerySet

from embeddings.models import EmbeddedChat, EmbeddingModel, MessageEmbedding
from embeddings.vectors import has_vectors
from events.rows import EmbeddingModelRow
from workspaces.models import Workspace
from workspaces.rows import build_model_row


def build_embedding_model_row(workspace: Workspace) -> EmbeddingModelRow:
    """Return the embedding model of a workspace, and how far its chats are embedded."""
    model = EmbeddingModel.objects.filter(workspace=workspace).first()
    if model is None:
        return EmbeddingModelRow(is_supported=has_vectors())
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


def list_rows_of_workspace(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return the embeddings of a workspace that are purged. A listener of `workspace_purged`."""
    return [
        MessageEmbedding.objects.filter(chat__workspace=workspace),
        EmbeddedChat.objects.filter(chat__workspace=workspace),
    ]
