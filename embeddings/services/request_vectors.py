"""The embedding of the request that a run answers. It is computed before the answer, within a short time or not at all."""

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction

from common.errors import AppError
from common.ids import new_id
from common.tenants import set_current_tenant
from embeddings.models import EmbeddingModel
from embeddings.services.settings import build_endpoint
from embeddings.vectors import format_vector
from llm.embeddings import Embedded, build_embedding_request, embed_texts
from llm.protocol import LLMError
from usage import services as usage
from usage.owners import ResolvedModel, UsageOwner
from usage.rules import read_rules, resolve_model

if TYPE_CHECKING:
    from embeddings.selectors import VectorRequest
    from embeddings.services.embedding import RunInThread

logger = logging.getLogger(__name__)

SECONDS = 2.0
"""How long an answer waits for the embedding of its request. After that, only words are searched."""
MAX_CHARACTERS = 2_000


@dataclass(frozen=True)
class _Reserved:
    model: ResolvedModel
    owner: UsageOwner
    holder_id: UUID
    text: str


async def compute_vector(request: "VectorRequest", run_in_thread: "RunInThread") -> str | None:
    """Return the embedding of a request as PostgreSQL reads it; null if it cannot be had in time, or if a budget is used up. It
    raises no error: the answer does not depend on it."""
    try:
        reserved = await run_in_thread(_reserve, request)
        if reserved is None:
            return None
        result: Embedded | LLMError
        try:
            model = reserved.model
            with set_current_tenant(request.workspace_id, request.person_id):
                result = await embed_texts(model.endpoint, model.name, [reserved.text], seconds=SECONDS)
        except LLMError as error:
            result = error
        await run_in_thread(_record, reserved, result)
    except AppError as error:
        logger.warning("The embedding of a request could not be computed: %s", error)
        return None
    except MemoryError:
        raise
    except Exception:
        logger.exception("The embedding of a request could not be computed.")
        return None
    if isinstance(result, LLMError):
        logger.warning("The embedding of a request could not be computed: %s", result.message)
        return None
    return format_vector(result.vectors[0]) if len(result.vectors[0]) == request.dimensions else None


def _reserve(request: "VectorRequest") -> _Reserved | None:
    stored = EmbeddingModel.objects.filter(generation=request.generation).first()
    if stored is None:
        return None
    owner = UsageOwner(request.workspace_id, request.person_id, chat_id=request.chat_id)
    model = resolve_model(build_endpoint(stored), stored.default_model, owner, read_rules(request.workspace_id))
    reserved = _Reserved(model, owner, new_id(), request.text[:MAX_CHARACTERS])
    usage.reserve(model, build_embedding_request(model.name, [reserved.text]), holder_id=reserved.holder_id, attempt=0)
    return reserved


@transaction.atomic
def _record(reserved: _Reserved, result: Embedded | LLMError) -> None:
    usage.record_embeddings(reserved.owner, reserved.model, reserved.holder_id, result)
