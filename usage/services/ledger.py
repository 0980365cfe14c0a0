"""Write the ledger: an entry for each request to a model, whatever its result was."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import QuerySet

from common.clock import now
from common.ids import get_lowest_id_at, new_id
from common.writing import ImmediateWrites, WriteBatch, insert
from llm.embeddings import Embedded
from llm.messages import Answer, Usage
from llm.protocol import LLMError, ModelTestResult
from usage.models import LLMCall, Payer
from usage.owners import ResolvedModel, UsageOwner
from usage.services.reservations import settle
from workspaces.models import Workspace

DELETED_AT_ONCE = 1000
MANY_SAMPLES = 20
"""Requests after which the factor of a model is well known."""
MAX_FACTOR = 4.0
"""If a server reports more tokens than so many times our estimate, this factor counts instead; if too few, its reciprocal."""
_LEARN = """
INSERT INTO usage_tokenfactor AS old (id, workspace_id, provider, model, factor, samples, updated_at)
VALUES (%s, %s, %s, %s, %s, 1, %s)
ON CONFLICT (workspace_id, provider, model) DO UPDATE
SET factor = old.factor + (excluded.factor - old.factor) / least(old.samples + 1, 20),
  samples = old.samples + 1, updated_at = excluded.updated_at
"""

_LEARN_SIZE = """
INSERT INTO usage_tokenfactor (id, workspace_id, provider, model, factor, samples, context_size, context_server, updated_at)
VALUES (%s, %s, %s, %s, 1, 0, %s, %s, %s)
ON CONFLICT (workspace_id, provider, model) DO UPDATE
SET context_size = excluded.context_size, context_server = excluded.context_server, updated_at = excluded.updated_at
"""
MIN_CONTEXT_SIZE = 256
MAX_CONTEXT_SIZE = 20_000_000
"""A server that states another size is not believed."""


def record_call(
    owner: UsageOwner,
    model: ResolvedModel,
    result: Answer | LLMError,
    *,
    request: bytes | None = None,
    batch: WriteBatch | None = None,
) -> Usage:
    """Record a request that ended in an answer or an error, and settle its reservation. Return its usage. `request`: as
    `llm.sent_requests` encodes it. `batch`: the caller writes the entry with it; null: it is written at once.

    Call it in the transaction that stores the result.
    """
    fields: dict[str, Any] = {"tries": result.tries, "request": request}
    if isinstance(result, Answer):
        first = result.first_token_s
        fields["finish"] = result.finish
        fields["first_token_ms"] = None if first is None else round(first * 1000)
        fields["total_ms"] = round(result.seconds * 1000)
    else:
        fields["error_code"] = result.code[:40]
    usage = result.usage or Usage()
    call = _build_call(owner, model, usage, fields)
    (batch or ImmediateWrites()).insert([call])
    if model.budgets and owner.run_id is not None:
        settle(owner.run_id, owner.attempt, usage)
    _learn_token_factor(owner, model, usage)
    if isinstance(result, LLMError) and result.context_size is not None:
        record_context_size(owner, model, result.context_size)
    elif isinstance(result, Answer) and result.shows_context_size:
        # What fits is what was accepted, with as much room for the answer as `get_context_budget` leaves.
        record_context_size(owner, model, max(MIN_CONTEXT_SIZE, usage.input_tokens * 4 // 3))
    return usage


def _learn_token_factor(owner: UsageOwner, model: ResolvedModel, usage: Usage) -> None:
    """Add a request to the factor of its model. A well-known factor is changed only by about one in sixteen requests, chosen by
    their number of tokens, so that most requests write nothing."""
    if owner.workspace_id is None or not usage.estimated_input:
        return
    if model.token_samples >= MANY_SAMPLES and usage.input_tokens % 16:
        return
    ratio = min(MAX_FACTOR, max(1 / MAX_FACTOR, usage.input_tokens / usage.estimated_input))
    values: list[Any] = [new_id(), owner.workspace_id, model.endpoint.provider, model.name[:200], ratio, now()]
    with connection.cursor() as cursor:
        cursor.execute(_LEARN, values)


def record_context_size(owner: UsageOwner, model: ResolvedModel, size: int) -> None:
    """Store how many tokens a model of the workspace reads, as its server has said or shown. The next conversations fit."""
    if owner.workspace_id is None or not MIN_CONTEXT_SIZE <= size <= MAX_CONTEXT_SIZE:
        return
    endpoint, at = model.endpoint, now()
    values: list[Any] = [new_id(), owner.workspace_id, endpoint.provider, model.name[:200], size]
    with connection.cursor() as cursor:
        cursor.execute(_LEARN_SIZE, [*values, (endpoint.api_base or "")[:400], at])


@transaction.atomic
def record_model_test(owner: UsageOwner, model: ResolvedModel, test_id: UUID, result: ModelTestResult) -> None:
    """Record the request of a model test, and settle its reservation. It belongs to a person, not to a run; the test
    of a person's own model has no workspace."""
    fields = {
        "finish": result.finish,
        "error_code": "" if result.ok else result.code[:40],
        "first_token_ms": round(result.seconds * 1000),
        "total_ms": round(result.total * 1000),
    }
    insert([_build_call(owner, model, result.usage, fields)])
    if model.budgets:
        settle(test_id, 0, result.usage)
    if result.context_size is not None:
        record_context_size(owner, model, result.context_size)


def record_embeddings(owner: UsageOwner, model: ResolvedModel, holder_id: UUID, result: Embedded | LLMError) -> None:
    """Record a request for embeddings, and settle its reservation (`holder_id`, attempt 0). It belongs to a chat and a person, not
    to a run. Call it in a transaction."""
    fields: dict[str, Any] = {"finish": "stop"}
    usage = result.usage or Usage()
    if isinstance(result, LLMError):
        fields = {"error_code": result.code[:40]}
    else:
        fields["total_ms"] = round(result.seconds * 1000)
    insert([_build_call(owner, model, usage, fields)])
    if model.budgets:
        settle(holder_id, 0, usage)


def _build_call(owner: UsageOwner, model: ResolvedModel, usage: Usage, fields: dict[str, Any]) -> LLMCall:
    """Return a new row of the ledger. The fields of `UsageOwner` are columns of it."""
    endpoint = model.endpoint
    return LLMCall(
        **vars(owner),
        provider=endpoint.provider,
        model=model.name[:200],
        paid_by=Payer.DEMO if endpoint.provider == "demo" else Payer(endpoint.paid_by),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        tokens_estimated=usage.estimated,
        cost_micro=usage.cost_micro,
        **fields,
    )


def remove_old_sent_requests() -> None:
    """Remove the requests that are older than `SENT_REQUEST_DAYS`. The entries stay."""
    before = get_lowest_id_at(now() - timedelta(days=settings.SENT_REQUEST_DAYS))
    old = LLMCall.objects.filter(pk__lt=before, request__isnull=False).order_by("pk")
    while ids := list(old.values_list("pk", flat=True)[:DELETED_AT_ONCE]):
        LLMCall.objects.filter(pk__in=ids).update(request=None)


def remove_sent_requests_of_workspace(workspace: Workspace) -> list[QuerySet[Any]]:
    """Remove the requests of a workspace that is purged; its ledger stays. A listener of `collect_rows_to_purge`."""
    LLMCall.objects.filter(workspace=workspace, request__isnull=False).update(request=None)
    return []
