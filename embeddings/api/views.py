"""The embedding model of a workspace."""

from uuid import UUID

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.views import APIView

from common.rest import Request, build_empty_response, build_response, read
from common.secrets import Secret
from embeddings import services as embeddings
from embeddings.api.bodies import EmbeddingModelBody
from embeddings.selectors import build_embedding_model_row
from events.rows import EmbeddingModelRow
from workspaces.permissions import WorkspaceVerb, get_workspace_for


class OneEmbeddingModel(APIView):
    @extend_schema(operation_id="read_embedding_model", responses=EmbeddingModelRow)
    def get(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Read the embedding model of a workspace."""
        workspace = get_workspace_for(request.user, workspace_id, WorkspaceVerb.SEE)
        return build_response(build_embedding_model_row(workspace))

    @extend_schema(operation_id="set_embedding_model", request=EmbeddingModelBody, responses=EmbeddingModelRow)
    def put(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Set the embedding model of a workspace."""
        body = read(request, EmbeddingModelBody)
        model = embeddings.set_embedding_model(
            request.user,
            workspace_id,
            provider=body.provider,
            default_model=body.default_model,
            revision=body.revision,
            api_base=body.api_base,
            options=body.options,
            key=None if body.key is None else Secret(body.key),
        )
        return build_response(build_embedding_model_row(model.workspace))

    @extend_schema(operation_id="delete_embedding_model", responses={204: None})
    def delete(self, request: Request, workspace_id: UUID) -> HttpResponse:
        """Delete the embedding model of a workspace and its key."""
        embeddings.delete_embedding_model(request.user, workspace_id)
        return build_empty_response()
