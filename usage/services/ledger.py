"""Write the ledger: an entry for each request to a model, whatever its result was."""

from typing import Any
from uuid import UUID

from django.db import transaction

from common.writing import insert
from llm.messages import Answer, Usage
from llm.protocol import LLMError, ModelTestResult
from usage.callers import Caller, ResolvedModel
from usage.models import LLMCall, Payer
from usage.services.reservations import settle


def record_call(caller: Caller, model: ResolvedModel, result: Answer | LLMError) -> Usage:
    """Record a request that ended in an answer or an error, and settle its reservation. Return its usage.

    Call it in the transaction that stores the result.
    """
    fields: dict[str, Any] = {"tries": result.tries}
    if isinstance(result, Answer):
        first = result.first_token_s
        fields["finish"] = result.finish
        fields["first_token_ms"] = None if first is None else round(first * 1000)
        fields["total_ms"] = round(result.seconds * 1000)
    else:
        fields["error_code"] = result.code[:40]
    usage = result.usage or Usage()
    _insert_call(caller, model, usage, fields)
    if model.budgets and caller.run_id is not None:
        settle(caller.run_id, caller.attempt, usage.cost_micro or 0)
    return usage


@transaction.atomic
def record_model_test(caller: Caller, model: ResolvedModel, test_id: UUID, result: ModelTestResult) -> None:
    """Record the request of a model test, and settle its reservation. It belongs to a person, not to a run; the caller of a test of
    a person's own model has no workspace."""
    fields = {
        "finish": result.finish,
        "error_code": result.code[:40],
        "first_token_ms": round(result.seconds * 1000),
        "total_ms": round(result.total * 1000),
    }
    _insert_call(caller, model, result.usage, fields)
    if model.budgets:
        settle(test_id, 0, result.usage.cost_micro or 0)


def _insert_call(caller: Caller, model: ResolvedModel, usage: Usage, fields: dict[str, Any]) -> None:
    endpoint = model.endpoint
    call = LLMCall(
        **vars(caller),
        provider=endpoint.provider,
        model=model.name[:200],
        paid_by=Payer.DEMO if endpoint.provider == "demo" else Payer(endpoint.paid_by),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        tokens_estimated=usage.estimated,
        cost_micro=usage.cost_micro,
        **fields,
    )
    insert([call])
